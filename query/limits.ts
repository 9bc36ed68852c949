/** The bounds of the questions, in one place. */

const mebibyte = 1024 ** 2

export interface QueryLimits {
  /** A body is shorter than this. */
  readonly latestBytesMax: number
  /** All bodies in memory together. */
  readonly cacheBytesMax: number
  /** One statement in QuestDB. */
  readonly timeoutMs: number
  readonly connectTimeoutMs: number
  /** Threads for light questions; more than one, so that a large answer does not hold up the small ones. */
  readonly threadsMax: number
  /** Of a thread; a large answer takes some tens, for its numbers lie in typed arrays outside the heap. */
  readonly heapMebibytesMax: number
  /** Questions that may wait for a thread. */
  readonly queueMax: number
  /** A body of the latest readings is built at most this often. */
  readonly rebuildMs: number
  /** Up to this age such a body is given out while the next one is built; an older one only when that fails. */
  readonly staleMs: number
  /** After a rebuild failed, the next one waits this long. */
  readonly retryMs: number
  /** How far ahead of our clock a reading may be. */
  readonly aheadMs: number
}

export const defaultLimits: QueryLimits = {
  latestBytesMax: 32 * mebibyte,
  cacheBytesMax: 128 * mebibyte,
  timeoutMs: 30_000,
  connectTimeoutMs: 3_000,
  threadsMax: 2,
  heapMebibytesMax: 512,
  queueMax: 64,
  rebuildMs: 60_000,
  staleMs: 5 * 60_000,
  retryMs: 2_000,
  aheadMs: 5 * 60_000,
}
