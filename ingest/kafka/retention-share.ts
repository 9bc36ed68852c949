/**
 * The share of Kafka's retention used by the oldest record that QuestDB lacks. Kafka deletes a record after its retention, even
 * if QuestDB lacks it. A high share first alarms the operator, then stops further writes.
 */

/** The alarm begins at this share. */
export const alarmShare = 0.5
/** Writes are refused from this share on, which leaves the rest of the time for forwarding the backlog. */
export const refusalShare = 0.8

/** Share of the retention of applied records: a segment of a spool ends after this time. */
export const segmentShare = 1 / 8
/** Together with a segment's time, kept records are still in the topic when writes are refused. */
const keepShareMax = 1 / 6

/**
 * How long applied records are kept for a QuestDB without sync: as configured, or a share of the retention where that is shorter.
 */
export function keptMs(askedMs: number, retentionMs: number): number {
  return Math.min(askedMs, retentionMs * keepShareMax)
}

/**
 * At least 0; above 1 Kafka may delete the record at any time. 0 while none waits (`oldestMs` undefined), and for an unlimited
 * retention.
 */
export function retentionShare(oldestMs: number | undefined, retentionMs: number, nowMs: number): number {
  return oldestMs === undefined ? 0 : Math.max(0, nowMs - oldestMs) / retentionMs
}
