/**
 * Kafka deletes a record when its retention is over, whether or not QuestDB has it. How much of that time the oldest record
 * has used that no commit covers is what an operator is warned by, and what ends in refusing further writes.
 */

/** From this share on there is something to do about it. */
export const alarmShare = 0.5
/** From this share on nothing is taken any more, which leaves the rest of the time to bring the backlog to QuestDB. */
export const refusalShare = 0.8

/** From 0 on; above 1 Kafka may delete the record any time. 0 while none waits (`oldestMs` undefined), and without an end of the retention. */
export function retentionShare(oldestMs: number | undefined, retentionMs: number, nowMs: number): number {
  return oldestMs === undefined ? 0 : Math.max(0, nowMs - oldestMs) / retentionMs
}
