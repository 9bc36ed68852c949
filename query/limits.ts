/** The bounds of the queries, in one place. */

import { availableParallelism } from 'node:os'

const mebibyte = 1024 ** 2

export interface QueryLimits {
  /** Upper bound of the length of a body. */
  readonly latestBytesMax: number
  /** Total size of all bodies in memory. */
  readonly cacheBytesMax: number
  /** Time for an answer, including all its statements in QuestDB and the wait for a thread. */
  readonly timeoutMs: number
  readonly connectTimeoutMs: number
  /** Threads for light queries; more than one, so that a large answer does not hold up the small ones. */
  readonly threadsMax: number
  /** Threads for analyses, which compute for long; one processor is reserved for incoming readings. */
  readonly analysisThreadsMax: number
  /** Queries that may wait for a thread, in each pool. */
  readonly queueMax: number
  /** The most readings of a light query: 31 days at one every five seconds. */
  readonly lightRowsMax: number
  /** The most readings of an analysis: 30 days at one a second. They take 50 bytes each, some of them twice. */
  readonly analysisRowsMax: number
  /** An answer that goes on changing is built at most this often. */
  readonly rebuildMs: number
  /**
   * An answer up to this age is served while the next one is built. An older one is served only when the build fails.
   */
  readonly staleMs: number
  /** The insights of the fleet are computed at most this often. */
  readonly insightsMs: number
  /** The same as `staleMs`, for the insights. */
  readonly insightsStaleMs: number
  /** The largest fleet with insights, in devices. The means of one take up to 1,200 bytes. */
  readonly insightsDevicesMax: number
  /** Up to this many devices, hours that the view lacks come from raw readings. */
  readonly insightsRawDevicesMax: number
  /** The most gauges beside the five in the insights. Their hours lack a view. */
  readonly insightsGaugesMax: number
  /** The next build waits this long after a failed one. */
  readonly retryMs: number
  /** The furthest that a timestamp may lie ahead of the server's clock. */
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
