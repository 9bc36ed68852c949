-- Requests with an idempotency key whose readings have times of their own: that they are stored, for a process that another one
-- is sent the same request after.

-- When the key expires, and for which devices the readings are; null until they are stored. A key that is claimed anew expires later.
ALTER TABLE idempotency_keys ADD COLUMN stored_as text;

-- One at a time with claims and sweeps, as these are (026-idempotency-counts.sql).
CREATE FUNCTION mark_idempotency_keys(writers text[], key_digests bytea[], stored text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(7089073111326620019);
  UPDATE idempotency_keys AS known SET stored_as = given.stored_as
  FROM unnest(writers, key_digests, stored) AS given (writer, key_digest, stored_as)
  WHERE known.writer = given.writer AND known.key_digest = given.key_digest;
END $$;
