/**
 * Up to where QuestDB has a topic, of a row of `shard_topics`. The committed offset may be far before it: where QuestDB does not sync
 * what it applies, that one is the start of what is kept to be sent again after a crash.
 */

/** Null while nothing was committed. What comes behind a rewind that is asked for is sent again; `least` would take it for null. */
export const appliedOffsetSql = `CASE
  WHEN committed_offset IS NULL THEN NULL
  ELSE least(greatest(committed_offset, (status->>'applied')::bigint), rewind_to)
END`
