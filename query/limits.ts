/** The bounds of the queries, in one place. */

import { availableParallelism } from 'node:os'

const mebibyte = 1024 ** 2

export interface QueryLimits {
  /** A body is shorter than this. */
  readonly latestBytesMax: number
  /** All bodies in memory together. */
  readonly cacheBytesMax: number
  /** An answer, with all its statements in QuestDB and the wait for a thread. */
  readonly timeoutMs: number
  readonly connectTimeoutMs: number
  /** Threads for light queries; more than one, so that a large answer does not hold up the small ones. */
  readonly threadsMax: number
  /** Threads for analyses, which compute for long: one processor is left to the readings that come in. */
  readonly analysisThreadsMax: number
  /** Queries that may wait for a thread, in each pool. */
  readonly queueMax: number
  /** Readings that a light query may be made of: 31 days of one every five seconds. */
  readonly lightRowsMax: number
  /** Readings that an analysis may be made of: 30 days of one a second. They take 50 bytes each, some of them twice. */
  readonly analysisRowsMax: number
  /** An answer that goes on changing is built at most this often. */
  readonly rebuildMs: number
  /** Up to this age such an answer is served while the next one is built; an older one only when that fails. */
  readonly staleMs: number
  /** The insights of the fleet are computed at most this often. */
  readonly insightsMs: number
  /** As `staleMs`, for the insights. */
  readonly insightsStaleMs: number
  /** The largest fleet with insights, in devices. The means of one take up to 1,200 bytes. */
  readonly insightsDevicesMax: number
  /** Up to so many, hours that the view lacks come from raw readings. */
  readonly insightsRawDevicesMax: number
  /** The most gauges beside the five that insights look at. There is no view of their hours. */
  readonly insightsGaugesMax: number
  /** After a rebuild failed, the next one waits this long. */
  readonly retryMs: number
  /** How far a timestamp may lie ahead of the server's clock. */
  readonly aheadMs: number
}

export const defaultLimits: QueryLimits = {
  latestBytesMax: 32 * mebibyte,
  cacheBytesMax: 128 * mebibyte,
  timeoutMs: 30_000,
  connectTimeoutMs: 3_000,
  threadsMax: 2,
  analysisThreadsMax: Math.max(1, availableParallelism() - 1),
  queueMax: 64,
  lightRowsMax: 550_000,
  analysisRowsMax: 2_700_000,
  rebuildMs: 60_000,
  staleMs: 5 * 60_000,
  insightsMs: 10 * 60_000,
  insightsStaleMs: 60 * 60_000,
  insightsDevicesMax: 100_000,
  insightsRawDevicesMax: 100,
  insightsGaugesMax: 4_000,
  retryMs: 2_000,
  aheadMs: 5 * 60_000,
}
