/** When a new epoch may begin. */

const dayUs = 86_400_000_000

/**
 * An epoch is committed at least so long before it begins, beside the times that readings may be ahead of the clock and the lease
 * of a node: half of it is left for clocks that differ.
 */
export const epochAheadMs = 3_600_000

/**
 * The start of the first UTC day that is at least so far ahead that every node knows of the epoch, and no row of that day was taken in, before it
 * begins: days and hours are whole in one shard. Microseconds.
 */
export function nextEpochUs(nowUs: number, aheadUs: number): number {
  return Math.ceil((nowUs + aheadUs) / dayUs) * dayUs
}
