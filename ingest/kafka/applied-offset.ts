/**
 * Up to where QuestDB has a topic, of a row of `replica_topics`. The committed offset may be far before it: where QuestDB does not sync
 * what it applies, that one is the start of what is kept to be sent again after a crash.
 */

const toldApplied = "(status->>'applied')::bigint"
const toldReached = `greatest(${toldApplied}, (status->>'appliedBefore')::bigint)`

/** Null while nothing was committed. What comes behind a rewind that is asked for is sent again; `least` would take it for null. */
const upTo = (told: string) => `CASE
  WHEN committed_offset IS NULL THEN NULL
  ELSE least(greatest(committed_offset, ${told}), rewind_to)
END`

/** All rows before it can be seen, as was told last; after a takeover only of what was sent again. */
export const appliedOffsetSql = upTo(toldApplied)

/** Also what processes before had seen, unless rows were lost since. */
export const reachedOffsetSql = upTo(toldReached)

/** Whether more was told than a rewind leaves. */
export const isRewoundSql = `${toldReached} > rewind_to`
