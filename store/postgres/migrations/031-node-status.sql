-- What a node tells of itself, for who looks after several of them.
ALTER TABLE nodes
  ADD COLUMN host text NOT NULL DEFAULT '',
  -- By how much its clock is ahead of that of PostgreSQL; null while it was not measured.
  ADD COLUMN clock_ahead_ms double precision;
