/**
 * SQL for the offset of a topic up to which QuestDB has its rows, from a row of `replica_topics`. The committed offset may be far
 * lower: without sync it marks the start of the records kept for sending again after a crash.
 */

const reportedApplied = "(status->>'applied')::bigint"
const reportedReached = `greatest(${reportedApplied}, (status->>'appliedBefore')::bigint)`

/** Null while nothing was committed. Records after a requested rewind are sent again; `least` would ignore a null. */
const upTo = (reported: string) => `CASE
  WHEN committed_offset IS NULL THEN NULL
  ELSE least(greatest(committed_offset, ${reported}), rewind_to)
END`

/** All rows before it are visible, by the last report. After a takeover it covers only rows sent again. */
export const appliedOffsetSql = upTo(reportedApplied)

/** Includes rows that earlier processes had seen applied, unless rows were lost since. */
export const reachedOffsetSql = upTo(reportedReached)

/** True when the reported offset exceeds the rewind's. */
export const isRewoundSql = `${reportedReached} > rewind_to`
