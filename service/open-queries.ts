/** Opens the queries of readings and of points, the exports and the reads of ranges, by the settings. */

import type { Ingest, PointsIngest } from '../ingest/ingest.ts'
import type { Retention } from '../lifecycle/retention/retention.ts'
import { bug } from '../limits/bug.ts'
import { oneShard, type Placement } from '../placement/placement.ts'
import { createReadingsExport, type ReadingsExport } from '../query/export/readings-export.ts'
import { createPoints, type Points } from '../query/points/points.ts'
import { createQuery, type Query } from '../query/query.ts'
import type { Config } from '../settings/config.ts'
import type { Log } from '../store/log.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import type { ServiceShard } from './shards.ts'

/** Before any reading. */
const everUs = Number.NEGATIVE_INFINITY

interface QueryParts {
  store: Pick<Store, 'questdb'>
  shards: readonly ServiceShard[]
  /** Without it all devices are on shard 1. */
  placement?: (() => Placement) | undefined
  ingest: Pick<Ingest, 'revision'>
  pointsIngest: PointsIngest
  retention: Pick<Retention, 'expiredBeforeUs' | 'isKnown'>
  clockMs: Clock
}

export interface ServiceQueries {
  query: Query
  points: Points
  readingsExport: ReadingsExport
  /** Reads of ranges, for which somebody waits. */
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

function shardsOf({ shards, placement = () => oneShard }: Pick<QueryParts, 'shards' | 'placement'>) {
  return { shards: shards.map(({ questdb }) => questdb.address), placement }
}

/** Undefined for one that was added without this process: it does not answer here. */
function shardAt({ shards }: Pick<QueryParts, 'shards'>, number: number): ServiceShard | undefined {
  const shard = shards[number - 1]
  if (shard !== undefined && shard.number !== number) throw bug(`shard ${shard.number} is in place of ${number}`)
  return shard
}

/** As long as it is not known which days have expired there, their hours would be missing. */
function answersOf(parts: Pick<QueryParts, 'shards' | 'retention'>) {
  return (number: number) => {
    const shard = shardAt(parts, number)
    return shard !== undefined && parts.retention.isKnown(number) && shard.questdb.answers()
  }
}

function openServiceQuery(config: Config, log: Log, parts: QueryParts): Query {
  const { ingest, pointsIngest, retention, clockMs } = parts
  return createQuery({
    ...shardsOf(parts),
    timeZone: config.TIME_ZONE,
    now: clockMs,
    revision: ingest.revision,
    pointsRevision: pointsIngest.revision,
    hourSources(number) {
      const shard = shardAt(parts, number)
      if (shard === undefined) return { rawFromUs: everUs, expiredBeforeUs: everUs }
      return { rawFromUs: rawFromUs(shard), expiredBeforeUs: retention.expiredBeforeUs(number) }
    },
    questdbAnswers: answersOf(parts),
    limits: {
      latestBytesMax: config.LATEST_BYTES_MAX,
      cacheBytesMax: config.CACHE_BYTES_MAX,
      timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000,
      aheadMs: config.TIMESTAMP_AHEAD_SECONDS * 1000,
    },
    log,
  })
}

/** From this time on the hourly view may lack readings; without a valid view, all hours do. */
function rawFromUs({ questdb: { hourlyView }, ingest }: ServiceShard): number {
  const txn = hourlyView.validThroughTxn()
  if (txn === undefined) return everUs
  const oldestUs = ingest.oldestSentSince(txn)
  // The view may have been invalidated in between.
  return hourlyView.validThroughTxn() === txn ? oldestUs : everUs
}

function openServicePoints(
  config: Config,
  log: Log,
  { store, pointsIngest }: Pick<QueryParts, 'store' | 'pointsIngest'>,
): Points {
  const { questdb } = store
  return createPoints({
    revision: pointsIngest.revision,
    questdb: questdb.address,
    questdbAnswers: questdb.answers,
    limits: { timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000 },
    log,
  })
}

function openServiceExport(config: Config, log: Log, parts: Pick<QueryParts, 'shards' | 'placement'>): ReadingsExport {
  return createReadingsExport({
    ...shardsOf(parts),
    questdbAnswers: number => shardAt(parts, number)?.questdb.answers() ?? false,
    limits: { timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000 },
    log,
  })
}

/** The door bounds how many there are at the same time; one that it has cut off may still be ending. */
const rangeLimits = { exportsMax: 32, pieceRows: 20_000, exportThreadsMax: 2 }

function openServiceRanges(config: Config, log: Log, parts: QueryParts): ReadingsExport {
  return createReadingsExport({
    ...shardsOf(parts),
    questdbAnswers: answersOf(parts),
    priority: 'below normal',
    limits: { ...rangeLimits, timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000 },
    log,
  })
}
