-- Requests of devices for an API key (RFC 8628), from their start until an hour after their end; tokens that were used.

CREATE TABLE device_grants (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Of both codes only the SHA-256 is kept.
  device_digest bytea NOT NULL UNIQUE CHECK (length(device_digest) = 32),
  user_digest bytea NOT NULL UNIQUE CHECK (length(user_digest) = 32),
  -- X25519; the private half follows from the device code.
  public_key bytea NOT NULL CHECK (length(public_key) = 32),
  client_name text NOT NULL,
  -- Where it was started.
  address text NOT NULL,
  network text NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'consumed', 'denied')),
  -- The session that has looked it up first; nobody else decides about it.
  viewer text,
  -- Who has approved or denied it.
  account_id integer REFERENCES accounts ON DELETE CASCADE,
  key_id integer REFERENCES api_keys ON DELETE CASCADE,
  -- The API key, for the device alone, until it has fetched it or the request ends.
  sealed_key bytea CHECK (sealed_key IS NULL OR status = 'approved'),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  interval_seconds integer NOT NULL,
  polled_at timestamptz
);
CREATE INDEX device_grants_expires_at ON device_grants (expires_at);
CREATE INDEX device_grants_network ON device_grants (network) WHERE status = 'pending';
CREATE INDEX device_grants_account ON device_grants (account_id);
CREATE INDEX device_grants_key ON device_grants (key_id);

-- What may be used once, and was: until it would have expired in any case.
CREATE TABLE used_tokens (
  purpose text NOT NULL,
  digest bytea NOT NULL CHECK (length(digest) = 32),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (purpose, digest)
);
CREATE INDEX used_tokens_expires_at ON used_tokens (expires_at);
