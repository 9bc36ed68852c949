-- Devices and their credentials, and who changed what.

-- Raised by every change of a record that decides who may come in, in the transaction of the change: a process that
-- keeps these records in memory reads what is newer than the highest number it knows.
CREATE SEQUENCE auth_seq AS bigint;

-- Half of each page stays free, so that noting when a device was last heard of need not touch any index.
CREATE TABLE devices (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  slug text NOT NULL CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND char_length(slug) <= 40),
  symbol text NOT NULL GENERATED ALWAYS AS (slug || '-' || number::text) STORED,
  location_short text NOT NULL DEFAULT '',
  location_desc text NOT NULL DEFAULT '',
  log_switch boolean NOT NULL DEFAULT true,
  battery boolean NOT NULL DEFAULT false,
  altitude_m double precision,
  expected_interval_s integer,
  owner text,
  created_at timestamptz NOT NULL,
  last_seen timestamptz,
  credential_current bytea NOT NULL CHECK (length(credential_current) = 32),
  credential_next bytea CHECK (length(credential_next) = 32),
  grace_ends_at timestamptz,
  removed_at timestamptz,
  auth_seq bigint NOT NULL,
  CHECK ((credential_next IS NULL) = (grace_ends_at IS NULL))
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX devices_name ON devices (name) WHERE removed_at IS NULL;
CREATE INDEX devices_removed_name ON devices (name) WHERE removed_at IS NOT NULL;
CREATE INDEX devices_auth_seq ON devices (auth_seq);

CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_subject ON audit (subject, id);
