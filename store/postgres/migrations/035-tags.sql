-- Tags of devices, as `site:berlin`, in the order of their keys, and the tags to whose devices an API key is limited.

ALTER TABLE devices ADD COLUMN tags text[] NOT NULL DEFAULT '{}' CHECK (cardinality(tags) <= 16);

-- What is no device has no tags: a key that is limited has no scope beyond devices.
ALTER TABLE api_keys
  ADD COLUMN tags text[] NOT NULL DEFAULT '{}' CHECK (cardinality(tags) <= 16),
  ADD CONSTRAINT api_keys_tags CHECK (tags = '{}' OR NOT scopes && '{stations,admin}');
