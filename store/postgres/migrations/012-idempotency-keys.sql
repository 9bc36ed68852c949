-- Requests with an Idempotency-Key, so that one that is sent again stores nothing a second time.

CREATE TABLE idempotency_keys (
  -- The credential: a device or an API key.
  writer text NOT NULL,
  -- SHA-256 of the key, and of the request.
  key_digest bytea NOT NULL CHECK (length(key_digest) = 32),
  fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32),
  -- The time of its reading in epoch microseconds; null where readings have times of their own.
  stamp_us bigint,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (writer, key_digest)
);
CREATE INDEX idempotency_keys_expires_at ON idempotency_keys (expires_at);
