/** Opens the queries of readings and points, the exports and the reads of ranges, by the settings. */

import { ageSecondsOf } from '../analytics/reliability/freshness.ts'
import type { Metrics } from '../auth/metrics/metrics.ts'
import { createReadingsExport, type ReadingsExport } from '../query/export/readings-export.ts'
import type { InsightsKnown } from '../query/insights-fleet.ts'
import type { Live } from '../query/live/live.ts'
import { createPoints, type Points } from '../query/points/points.ts'
import { createQuery, type Query } from '../query/query.ts'
import { createReplicas, type Replicas } from '../query/replicas.ts'
import type { Log } from '../store/log.ts'
import { descriptionOf } from '../store/metrics/metric.ts'
import type { Clock } from './clock.ts'
import type { Retention } from './lifecycle/retention/retention.ts'
import type { ServiceReplica } from './replicas.ts'
import type { Config } from './settings/config.ts'

const everUs = Number.NEGATIVE_INFINITY

interface QueryParts {
  readReplicas: Replicas
  replicas: readonly ServiceReplica[]
  clockMs: Clock
}

export interface ServiceQueries {
  query: Query
  points: Points
  readingsExport: ReadingsExport
  /** Reads of ranges, for interactive clients. */
  rangeReads: ReadingsExport
}

export function openServiceQueries(config: Config, log: Log, parts: QueryParts): ServiceQueries {
  return {
    query: openServiceQuery(config, log, parts),
    points: openServicePoints(config, log, parts),
    readingsExport: openServiceExport(config, log, parts),
    rangeReads: openServiceRanges(config, log, parts),
  }
}

export function openReadReplicas(
  replicas: readonly ServiceReplica[],
  retention: Pick<Retention, 'expiredBeforeUs' | 'isKnown'>,
  preferred: number | undefined,
): Replicas {
  const read = replicas.map(({ number, questdb, readings, points }) => ({
    address: questdb.address,
    // While the replica's expired days are unknown, their hours would be missing.
    answers: () => readings.lost() === undefined && retention.isKnown(number) && questdb.answers(),
    shown: () => [readings.shown() ?? 0, points.shown() ?? 0] as const,
    end: () => [readings.end(), points.end()] as const,
    hourSources: () => ({
      rawFromUs: rawFromUs({ questdb, readings }),
      expiredBeforeUs: retention.expiredBeforeUs(number),
    }),
  }))
  return createReplicas(read, { preferred })
}

function openServiceQuery(config: Config, log: Log, parts: QueryParts): Query {
  return createQuery({
    replicas: parts.readReplicas,
    timeZone: config.TIME_ZONE,
    now: parts.clockMs,
    revision: revisionOf(parts, 'readings'),
    pointsRevision: revisionOf(parts, 'points'),
    limits: {
      latestBytesMax: config.LATEST_BYTES_MAX,
      cacheBytesMax: config.CACHE_BYTES_MAX,
      timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000,
      aheadMs: config.TIMESTAMP_AHEAD_SECONDS * 1000,
    },
    log,
  })
}

/** Answers of another replica are invalid, so a change of the replica changes all revisions. */
function revisionOf({ readReplicas, replicas }: QueryParts, rows: 'readings' | 'points'): (series: number) => number {
  return series => {
    const revision = replicas[readReplicas.current() - 1]?.[rows].revision(series) ?? 0
    return readReplicas.changes() * revisionsPerChange + revision
  }
}

const revisionsPerChange = 2 ** 32

/** From this time on the hourly view may lack readings; without a valid view, it lacks all hours. */
function rawFromUs({ questdb: { hourlyView }, readings }: Pick<ServiceReplica, 'questdb' | 'readings'>): number {
  const txn = hourlyView.validThroughTxn()
  if (txn === undefined) return everUs
  const oldestUs = readings.oldestSentSince(txn)
  // The view may have been invalidated in between.
  return hourlyView.validThroughTxn() === txn ? oldestUs : everUs
}

function openServicePoints(config: Config, log: Log, parts: QueryParts): Points {
  return createPoints({
    revision: revisionOf(parts, 'points'),
    replicas: parts.readReplicas,
    limits: { timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000 },
    log,
  })
}

function openServiceExport(config: Config, log: Log, { readReplicas: replicas }: QueryParts): ReadingsExport {
  return createReadingsExport({ replicas, limits: { timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000 }, log })
}

/** Routes bound concurrent reads. An aborted one may still be ending. */
const rangeLimits = { exportsMax: 32, pieceRows: 60_000, rowsInMemory: 320_000, exportThreadsMax: 2 }

function openServiceRanges(config: Config, log: Log, { readReplicas: replicas }: QueryParts): ReadingsExport {
  return createReadingsExport({
    replicas,
    priority: 'below normal',
    limits: { ...rangeLimits, timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000 },
    log,
  })
}

export function createInsightsKnown(
  metrics: Pick<Metrics, 'metricsOf' | 'series'>,
  live: Pick<Live, 'stateOf' | 'silenceOf'>,
  nowMs: () => number,
): InsightsKnown {
  return {
    gaugesOf(number) {
      return metrics.metricsOf(number).flatMap(metric => {
        const series = metrics.series(number, metric)
        if (series === undefined || metric.kind !== 'gauge') return []
        const { title, unit, decimals } = descriptionOf(metric)
        return [{ metric: { name: metric.name, title, unit, decimals, quality: metric.quality }, series }]
      })
    },
    silenceOf(number) {
      const silence = live.stateOf(number) === 'silent' ? live.silenceOf(number) : undefined
      if (silence === undefined || Number.isNaN(silence.lastMs)) return undefined
      const { lastMs, staleSeconds } = silence
      return { state: ageSecondsOf(lastMs, nowMs()) > staleSeconds ? 'offline' : 'stale', lastMs }
    },
  }
}
