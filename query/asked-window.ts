/** What an analysis is asked of: so many days up to now, or up to an earlier moment, or from a moment to another one. */

export interface AskedWindow {
  /** Of a window with a start, from there to its end; then it may be no whole number. */
  readonly days: number
  readonly startMs?: number | undefined
  /** The answer is that of this moment, without what came later; undefined or in the future: of now. */
  readonly endMs?: number | undefined
}

/** The moment that an answer is of. */
export function asOfMs(endMs: number | undefined, nowMs: number): number {
  return Math.min(endMs ?? nowMs, nowMs)
}

/** No reading of the answer is later. */
export function newestUsOf(endMs: number | undefined, newestUs: number): number {
  return endMs === undefined ? newestUs : Math.min(newestUs, endMs * 1000 - 1)
}
