/** Groups that have news all the time: after seven notifications in an hour they wait longer for the next one. */

/** One more than an hour may have. */
const sentMax = 7

/**
 * Until when a group waits, by when it has sent news, oldest first; -Infinity where it may send at once. Seven times in
 * the length of twelve intervals (an hour), it waits for six of them, and does so until it was still for eight.
 */
export function backoffEndMs(sentMs: readonly number[], intervalMs: number): number {
  let recent: number[] = []
  let isBusy = false
  for (const atMs of sentMs) {
    const isStill = atMs - (recent.at(-1) ?? atMs) > 8 * intervalMs
    recent = isStill ? [atMs] : [...recent, atMs].slice(-sentMax)
    const isOften = recent.length === sentMax && atMs - (recent[0] ?? atMs) <= 12 * intervalMs
    isBusy = isOften || (isBusy && !isStill)
  }
  return isBusy ? (recent.at(-1) ?? Number.NEGATIVE_INFINITY) + 6 * intervalMs : Number.NEGATIVE_INFINITY
}
