-- Erasing the readings of a device takes a while and has to end even when the process does not live that long.

CREATE TABLE erase_jobs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  device text NOT NULL,
  -- The records that bore the name when the job was asked for, and the symbols under which their readings lie.
  numbers integer[] NOT NULL,
  symbols text[] NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'running', 'done', 'failed')),
  rows bigint,
  requested_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  error text
);
CREATE INDEX erase_jobs_device ON erase_jobs (device, id);
