-- What people have written at moments of time, about a device or about all of them.

CREATE TABLE annotations (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Null: all devices.
  device integer REFERENCES devices,
  from_at timestamptz NOT NULL,
  -- Null: a moment.
  until_at timestamptz,
  text text NOT NULL CHECK (char_length(text) BETWEEN 1 AND 256),
  -- Null: the local admin token, or an account that is removed.
  author integer REFERENCES accounts ON DELETE SET NULL,
  written_at timestamptz NOT NULL,
  CHECK (until_at > from_at)
);
CREATE INDEX annotations_device ON annotations (device, from_at);
CREATE INDEX annotations_author ON annotations (author) WHERE author IS NOT NULL;
