-- How many idempotency keys each writer has, and under the empty name how many there are in all. Kept by the two functions below,
-- so that the bounds hold for all processes together.

CREATE TABLE idempotency_counts (
  writer text PRIMARY KEY,
  keys integer NOT NULL
) WITH (fillfactor = 50);
INSERT INTO idempotency_counts (writer, keys)
SELECT coalesce(writer, ''), count(*) FROM idempotency_keys GROUP BY GROUPING SETS ((writer), ());

-- Inserts the keys that are not there, as far as there is room, and replaces those that have expired. Keys are given once each, in
-- the order in which they take the room. What was done comes back, and what there is no room for; a key that is there and good
-- does not.
--
-- Claims and sweeps run one at a time: else two of them could lock the same rows in another order, and each would count without
-- the other. Being statements of a volatile function, what follows the lock sees what was committed before it was taken.
CREATE FUNCTION claim_idempotency_keys(
  writers text[],
  key_digests bytea[],
  fingerprints bytea[],
  stamps_us float8[],
  expire_ms float8[],
  claimed_at timestamptz,
  per_writer_max integer,
  all_max integer
) RETURNS TABLE (of_writer text, of_key bytea, outcome text) LANGUAGE plpgsql AS $$
BEGIN
  -- Any fixed number serves; it is "barokeys" in ASCII.
  PERFORM pg_advisory_xact_lock(7089073111326620019);
  RETURN QUERY
  WITH given AS MATERIALIZED (
    SELECT g.*, known.writer IS NULL AS is_new
    FROM unnest(writers, key_digests, fingerprints, stamps_us, expire_ms) WITH ORDINALITY
      AS g (writer, key_digest, fingerprint, stamp_us, expires_ms, place)
    LEFT JOIN idempotency_keys AS known ON known.writer = g.writer AND known.key_digest = g.key_digest
  ), within_writer AS MATERIALIZED (
    SELECT given.*, coalesce(c.keys, 0) + row_number() OVER (PARTITION BY given.writer ORDER BY place) AS rank
    FROM given LEFT JOIN idempotency_counts AS c ON c.writer = given.writer
    WHERE is_new
  ), within_all AS MATERIALIZED (
    SELECT w.*, row_number() OVER (ORDER BY place) +
      coalesce((SELECT c.keys FROM idempotency_counts AS c WHERE c.writer = ''), 0) AS rank_of_all
    FROM within_writer AS w
    WHERE rank <= per_writer_max
  ), inserted AS (
    INSERT INTO idempotency_keys AS known (writer, key_digest, fingerprint, stamp_us, expires_at)
    SELECT a.writer, a.key_digest, a.fingerprint, a.stamp_us, to_timestamp(a.expires_ms / 1000)
    FROM within_all AS a
    WHERE rank_of_all <= all_max
    RETURNING known.writer, known.key_digest
  ), replaced AS (
    UPDATE idempotency_keys AS known
    SET fingerprint = given.fingerprint, stamp_us = given.stamp_us, expires_at = to_timestamp(given.expires_ms / 1000)
    FROM given
    WHERE NOT given.is_new AND known.writer = given.writer AND known.key_digest = given.key_digest
      AND known.expires_at <= claimed_at
    RETURNING known.writer, known.key_digest
  ), counted AS (
    INSERT INTO idempotency_counts AS c (writer, keys)
    SELECT coalesce(i.writer, ''), count(*) FROM inserted AS i GROUP BY GROUPING SETS ((i.writer), ())
    ON CONFLICT (writer) DO UPDATE SET keys = c.keys + excluded.keys
  )
  SELECT i.writer, i.key_digest, 'claimed' FROM inserted AS i
  UNION ALL SELECT r.writer, r.key_digest, 'claimed' FROM replaced AS r
  UNION ALL SELECT w.writer, w.key_digest, 'too many of writer' FROM within_writer AS w WHERE w.rank > per_writer_max
  UNION ALL SELECT a.writer, a.key_digest, 'too many' FROM within_all AS a WHERE a.rank_of_all > all_max;
END $$;

-- Removes at most so many keys that have expired, and returns how many these were.
CREATE FUNCTION remove_expired_idempotency_keys(expired_at timestamptz, keys_max integer) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  removed_count integer;
BEGIN
  PERFORM pg_advisory_xact_lock(7089073111326620019);
  WITH removed AS (
    DELETE FROM idempotency_keys WHERE (writer, key_digest) IN (
      SELECT k.writer, k.key_digest FROM idempotency_keys AS k WHERE k.expires_at <= expired_at
      ORDER BY k.expires_at LIMIT keys_max
    ) RETURNING writer
  ), gone AS MATERIALIZED (
    SELECT coalesce(r.writer, '') AS writer, count(*) AS keys FROM removed AS r GROUP BY GROUPING SETS ((r.writer), ())
  ), emptied AS (
    DELETE FROM idempotency_counts AS c USING gone WHERE c.writer = gone.writer AND c.keys <= gone.keys
  ), reduced AS (
    UPDATE idempotency_counts AS c SET keys = c.keys - gone.keys FROM gone
    WHERE c.writer = gone.writer AND c.keys > gone.keys
  )
  SELECT gone.keys INTO removed_count FROM gone WHERE gone.writer = '';
  RETURN coalesce(removed_count, 0);
END $$;
