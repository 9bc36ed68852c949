/** Which days have expired, by the clock. Days are those of UTC, as QuestDB's partitions are. */

const dayMs = 86_400_000

/** The start of the first day that is kept: so many whole days before today. Epoch milliseconds. */
export function horizonMs(nowMs: number, days: number): number {
  return (Math.floor(nowMs / dayMs) - days) * dayMs
}
