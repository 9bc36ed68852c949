-- Links by which anybody sees a saved view. Only the SHA-256 of the token is kept, and its beginning, so that its owner
-- knows it again.

CREATE TABLE view_links (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account_id integer NOT NULL REFERENCES accounts ON DELETE CASCADE,
  view_id integer NOT NULL REFERENCES saved_views ON DELETE CASCADE,
  digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
  prefix text NOT NULL,
  -- The numbers of the devices of the view; null for a view of the fleet, which follows its tags and its search.
  devices integer[],
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE INDEX view_links_account ON view_links (account_id, id);
CREATE INDEX view_links_view ON view_links (view_id);
-- When a link was over; it is removed some time after that.
CREATE INDEX view_links_over ON view_links (least(revoked_at, expires_at));
