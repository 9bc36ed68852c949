-- Decoders of messages that people have written.
CREATE TABLE decoders (
  name text PRIMARY KEY,
  declaration jsonb NOT NULL,
  updated_at timestamptz NOT NULL
);
