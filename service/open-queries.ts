/** Opens the queries of readings and of points, the exports and the reads of ranges, by the settings. */

import type { Ingest, PointsIngest } from '../ingest/ingest.ts'
import type { Retention } from '../lifecycle/retention/retention.ts'
import { oneShard } from '../placement/placement.ts'
import { createReadingsExport, type ReadingsExport } from '../query/export/readings-export.ts'
import { createPoints, type Points } from '../query/points/points.ts'
import { createQuery, type Query } from '../query/query.ts'
import type { Config } from '../settings/config.ts'
import type { Log } from '../store/log.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'

interface QueryParts {
  store: Store
  ingest: Ingest
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

/** All devices are on the QuestDB of the store. */
function oneQuestdb({ questdb }: Store) {
  return { shards: [questdb.address], placement: () => oneShard }
}

function openServiceQuery(config: Config, log: Log, parts: QueryParts): Query {
  const { store, ingest, pointsIngest, retention, clockMs } = parts
  return createQuery({
    ...oneQuestdb(store),
    timeZone: config.TIME_ZONE,
    now: clockMs,
    revision: ingest.revision,
    pointsRevision: pointsIngest.revision,
    hourSources: () => ({ rawFromUs: rawFromUs(store, ingest), expiredBeforeUs: retention.expiredBeforeUs() }),
    // As long as it is not known which days have expired, their hours would be missing.
    questdbAnswers: () => retention.isKnown() && store.questdb.answers(),
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
function rawFromUs({ questdb: { hourlyView } }: Store, ingest: Ingest): number {
  const txn = hourlyView.validThroughTxn()
  if (txn === undefined) return Number.NEGATIVE_INFINITY
  const oldestUs = ingest.oldestSentSince(txn)
  // The view may have been invalidated in between.
  return hourlyView.validThroughTxn() === txn ? oldestUs : Number.NEGATIVE_INFINITY
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

function openServiceExport(config: Config, log: Log, { store }: Pick<QueryParts, 'store'>): ReadingsExport {
  const { questdb } = store
  return createReadingsExport({
    ...oneQuestdb(store),
    questdbAnswers: questdb.answers,
    limits: { timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000 },
    log,
  })
}

/** The door bounds how many there are at the same time; one that it has cut off may still be ending. */
const rangeLimits = { exportsMax: 32, pieceRows: 20_000, exportThreadsMax: 2 }

function openServiceRanges(config: Config, log: Log, { store, retention }: QueryParts): ReadingsExport {
  const { questdb } = store
  return createReadingsExport({
    ...oneQuestdb(store),
    questdbAnswers: () => retention.isKnown() && questdb.answers(),
    priority: 'below normal',
    limits: { ...rangeLimits, timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000 },
    log,
  })
}
