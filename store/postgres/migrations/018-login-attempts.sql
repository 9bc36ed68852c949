-- Counts an attempt to log in as failed unless it comes too early, in one round trip: a login waits for it before its password
-- is looked at. Locks, counts and the new row are one transaction; being statements of a volatile function, each sees what was
-- committed before it began, so that the counts contain whatever the locks waited for.
--
-- Two attempts whose locks have the same numbers wait for each other without need, and rarely. The order is the same for all, so
-- that no two wait for each other for ever. Not synced: a crash of PostgreSQL may lose the last counts, and a sync for each attempt
-- would be work for whoever guesses.
CREATE FUNCTION count_login_attempt(
  tried_account bytea,
  tried_network text,
  account_lock integer,
  network_lock integer,
  tried_at timestamptz,
  lifetime interval,
  free_per_account integer,
  free_per_network integer,
  wait_seconds_max integer,
  -- Seconds until an attempt is taken; null for one that was.
  OUT wait_seconds integer,
  -- Of the account, from all networks, before this attempt.
  OUT failures_before float8
) LANGUAGE plpgsql AS $$
DECLARE
  own bigint;
  own_last_at timestamptz;
  of_network bigint;
  network_last_at timestamptz;
  wait float8;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM pg_advisory_xact_lock(1, account_lock), pg_advisory_xact_lock(2, network_lock);

  SELECT coalesce(sum(failures) FILTER (WHERE account = tried_account), 0),
    coalesce(sum(failures) FILTER (WHERE account = tried_account AND network = tried_network), 0),
    max(last_at) FILTER (WHERE account = tried_account AND network = tried_network),
    coalesce(sum(failures) FILTER (WHERE network = tried_network), 0),
    max(last_at) FILTER (WHERE network = tried_network)
  INTO failures_before, own, own_last_at, of_network, network_last_at
  FROM login_failures
  WHERE (account = tried_account OR network = tried_network) AND last_at > tried_at - lifetime;

  -- The account slows only networks that failed on it themselves.
  wait := greatest(
    CASE WHEN own > 0 THEN login_wait(failures_before - free_per_account, own_last_at - tried_at, wait_seconds_max) END,
    login_wait(of_network - free_per_network, network_last_at - tried_at, wait_seconds_max));
  IF wait > 0 THEN
    -- A clock that was set back must not announce a longer wait than there is.
    wait_seconds := least(ceil(wait), wait_seconds_max);
    RETURN;
  END IF;

  INSERT INTO login_failures AS known (account, network, failures, last_at)
  VALUES (tried_account, tried_network, 1, tried_at)
  ON CONFLICT (account, network) DO UPDATE SET last_at = excluded.last_at, failures = CASE
    WHEN known.last_at > tried_at - lifetime THEN least(known.failures, 1000000) + 1 ELSE 1 END;
END $$;

-- Seconds that are left of the delay after so many failures beyond those that are free: 1 s, 2 s, 4 s, … after the last one.
-- Null without a delay: then nothing is left, also where the last attempt is later than this one by the clock.
CREATE FUNCTION login_wait(beyond float8, since_last interval, wait_seconds_max integer) RETURNS float8
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN beyond >= 0
    THEN least(2 ^ least(beyond, 30), wait_seconds_max) + extract(epoch FROM since_last)::float8 END
$$;
