-- The hourly view is one for each shard, in its QuestDB.
ALTER TABLE hourly_view ADD COLUMN shard integer NOT NULL DEFAULT 1 CHECK (shard >= 1);
ALTER TABLE hourly_view DROP COLUMN is_only;
ALTER TABLE hourly_view ADD PRIMARY KEY (shard);
