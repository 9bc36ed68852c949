/** The window of an analysis: some days up to now or to an earlier moment, or the time between two moments. */

export interface AskedWindow {
  /** With a start, the length of the window, which may be fractional. */
  readonly days: number
  readonly startMs?: number | undefined
  /** The answer ignores later readings; undefined or a future moment means now. */
  readonly endMs?: number | undefined
}

export function asOfMs(endMs: number | undefined, nowMs: number): number {
  return Math.min(endMs ?? nowMs, nowMs)
}

/** No reading of the answer is later. */
export function newestUsOf(endMs: number | undefined, newestUs: number): number {
  return endMs === undefined ? newestUs : Math.min(newestUs, endMs * 1000 - 1)
}
