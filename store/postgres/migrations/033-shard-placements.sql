-- Where the journal is Kafka: which shard has the readings of a device from a time on. Before the first row all are on shard 1.

CREATE TABLE shard_placements (
  -- Epoch microseconds, the start of a UTC day: days and hours are whole in one shard.
  from_us bigint PRIMARY KEY CHECK (from_us > 0 AND from_us % 86400000000 = 0),
  -- The number of the shard by bucket: see placement/placement.ts.
  shards bytea NOT NULL CHECK (octet_length(shards) = 4096),
  added_at timestamptz NOT NULL DEFAULT now()
);

-- Unique over all topics, where those of several shards are listed together; ids are unique in a topic alone.
ALTER TABLE shard_dead_letters ADD COLUMN number bigint GENERATED ALWAYS AS IDENTITY UNIQUE;
