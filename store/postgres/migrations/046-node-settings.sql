-- Nodes compare further settings: a difference is reported, and no node is refused for it.

-- By name, a digest of each.
ALTER TABLE nodes ADD COLUMN advised jsonb NOT NULL DEFAULT '{}';
