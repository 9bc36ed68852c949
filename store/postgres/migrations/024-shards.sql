-- Where the journal is Kafka: which process forwards a shard to its QuestDB, and the state of the shard's topics.

CREATE TABLE shards (
  -- Part of the key of its advisory lock.
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE,
  -- Raised by each process that takes the shard over; what an earlier one writes after that is refused.
  epoch bigint NOT NULL DEFAULT 0,
  -- The process that has it; null when it was given back with no request in flight.
  holder text,
  taken_at timestamptz
);

CREATE TABLE shard_topics (
  topic text PRIMARY KEY,
  -- The offset of the first record that QuestDB may lack; null before the first commit.
  committed_offset bigint CHECK (committed_offset >= 0),
  committed_by text,
  committed_at timestamptz,
  -- From where a process that lost the shard asks to send again; null when nobody does.
  rewind_to bigint CHECK (rewind_to >= 0),
  -- What the process that forwards the topic tells of it: see forward-status.ts.
  status json
);

-- Records before this offset are erased: of this series, or, below 0, values of the further series of that number.
CREATE TABLE shard_tombstones (
  topic text NOT NULL,
  series bigint NOT NULL,
  before_offset bigint NOT NULL CHECK (before_offset >= 0),
  -- Nothing before this offset is in flight or is sent any more; null, or lower than the other, until the forwarder has seen to it.
  confirmed_before bigint,
  PRIMARY KEY (topic, series)
);

-- Rows that QuestDB refused.
CREATE TABLE shard_dead_letters (
  topic text NOT NULL,
  -- In the order of the topic.
  id bigint NOT NULL CHECK (id >= 0),
  at timestamptz NOT NULL,
  reason text NOT NULL,
  series bigint NOT NULL,
  symbol text NOT NULL,
  time text NOT NULL,
  -- As json, which keeps the order of the columns.
  "values" json NOT NULL,
  further json,
  record bytea NOT NULL,
  PRIMARY KEY (topic, id)
);
