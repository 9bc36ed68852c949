-- API keys of people. Only the SHA-256 of a key is kept, and its beginning, so that its owner knows it again.

CREATE TABLE api_keys (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id integer NOT NULL REFERENCES accounts ON DELETE CASCADE,
  name text NOT NULL,
  digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
  prefix text NOT NULL,
  scopes text[] NOT NULL,
  -- Whether readings that come by it may add devices.
  create_devices boolean NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  -- Null for one that does not expire.
  expires_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX api_keys_account ON api_keys (account_id, id);
-- When a key was over; it is removed some time after that.
CREATE INDEX api_keys_over ON api_keys (least(revoked_at, expires_at));
