-- Several nodes of a service on one database: what each has changed of that which the others hold in memory.

-- The number of the last change that is committed. Who makes a change has this row locked until its commit, so numbers have the
-- order of the commits and leave no holes, which a sequence would not give.
CREATE TABLE feed_head (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  seq bigint NOT NULL DEFAULT 0,
  -- Another one after a restore, and after a service that was alone: what nodes hold in memory ends with it.
  epoch uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO feed_head DEFAULT VALUES;

CREATE TABLE feed (
  seq bigint PRIMARY KEY,
  kind text NOT NULL,
  -- Of what was changed; which numbers they are depends on the kind.
  ids bigint[] NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX feed_at ON feed (at);

CREATE TABLE nodes (
  id uuid PRIMARY KEY,
  role text NOT NULL,
  version text NOT NULL,
  -- The change up to which it has applied all.
  applied bigint NOT NULL,
  -- Until then it lets in by what it holds in memory, so whoever makes a change waits for it.
  expires_at timestamptz NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- By name, a digest of each setting and secret that has to be the same at all nodes.
  settings jsonb NOT NULL
);

-- A row that was read earlier never replaces a later one.
ALTER TABLE metrics ADD COLUMN version integer NOT NULL DEFAULT 1;
