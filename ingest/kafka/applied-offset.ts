/**
 * SQL for the offset of a topic up to which QuestDB has its rows, from a row of `replica_topics`. The committed offset may be far
 * lower: without sync it marks the start of the records kept for sending again after a crash.
 */

const toldApplied = "(status->>'applied')::bigint"
const toldReached = `greatest(${toldApplied}, (status->>'appliedBefore')::bigint)`

/** Null while nothing was committed. Records after a requested rewind are sent again; `least` would ignore a null. */
const upTo = (told: string) => `CASE
  WHEN committed_offset IS NULL THEN NULL
  ELSE least(greatest(committed_offset, ${told}), rewind_to)
END`

/** All rows before it are visible, by the last report. After a takeover it covers only rows sent again. */
export const appliedOffsetSql = upTo(toldApplied)

/** Includes rows that earlier processes had seen applied, unless rows were lost since. */
export const reachedOffsetSql = upTo(toldReached)

/** True when the reported offset exceeds the rewind's. */
export const isRewoundSql = `${toldReached} > rewind_to`
