-- Which node does what one node does for all. A lock says who may; this says whom its successor waits for, and shows it.
ALTER TABLE nodes ADD COLUMN leads_since timestamptz;

-- What the node that leads tells the others of the hourly view in QuestDB.
CREATE TABLE hourly_view (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- That of feed_head, when it was told. In another epoch nothing is known of the view.
  epoch uuid NOT NULL,
  -- The transaction of the table of readings up to which the view has all of them; null while it must not be used.
  valid_through bigint,
  -- How often it was made anew.
  builds bigint NOT NULL DEFAULT 0,
  -- That of these, and those before, may have readings that the table has lost.
  suspect_build bigint NOT NULL DEFAULT -1
);
