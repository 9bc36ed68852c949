-- Readings are in one QuestDB, of which there may be replicas. Those of several shards have to be merged by a version before this one.

DO $$
BEGIN
  IF EXISTS (SELECT FROM shard_placements) THEN
    RAISE EXCEPTION 'the readings are on several shards: run "barograph shards merge" of the version before this one (docs/upgrading.md)';
  END IF;
END $$;

DROP TABLE shard_placements;
ALTER TABLE shards RENAME TO replicas;
ALTER TABLE shard_topics RENAME TO replica_topics;
ALTER TABLE shard_tombstones RENAME TO replica_tombstones;
ALTER TABLE shard_dead_letters RENAME TO replica_dead_letters;
ALTER TABLE replica_dead_letters DROP COLUMN number;
ALTER TABLE hourly_view RENAME COLUMN shard TO replica;
