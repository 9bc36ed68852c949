/**
 * Kafka deletes a record when its retention is over, whether or not QuestDB has it. How much of that time the oldest record
 * has used that QuestDB does not have is what an operator is warned by, and what ends in refusing further writes.
 */

/** From this share on there is something to do about it. */
export const alarmShare = 0.5
/** From this share on nothing is taken any more, which leaves the rest of the time to bring the backlog to QuestDB. */
export const refusalShare = 0.8

/** Of the time for which applied records are kept: a segment of a spool ends after so long. */
export const segmentShare = 1 / 8
/** With the time of a segment, what is kept is still in the topic when nothing is taken any more. */
const keepShareMax = 1 / 6

/** How long applied records are kept for a QuestDB that does not sync: as asked for, or a share of the retention where that is shorter. */
export function keptMs(askedMs: number, retentionMs: number): number {
  return Math.min(askedMs, retentionMs * keepShareMax)
}

/** From 0 on; above 1 Kafka may delete the record any time. 0 while none waits (`oldestMs` undefined), and without an end of the retention. */
export function retentionShare(oldestMs: number | undefined, retentionMs: number, nowMs: number): number {
  return oldestMs === undefined ? 0 : Math.max(0, nowMs - oldestMs) / retentionMs
}
