-- Addresses of pages that people have given a name; one of them may be where the pages begin for its owner.

CREATE TABLE saved_views (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id integer NOT NULL REFERENCES accounts ON DELETE CASCADE,
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  -- Path and query as seen from the root of the service.
  address text NOT NULL CHECK (length(address) BETWEEN 1 AND 1000),
  is_start boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  UNIQUE (account_id, name)
);
CREATE UNIQUE INDEX saved_views_start ON saved_views (account_id) WHERE is_start;
