-- A saved view with panels is a dashboard. Its address is /dashboard/ and its id; other views have no panels.
ALTER TABLE saved_views ADD COLUMN panels jsonb CHECK (jsonb_array_length(panels) BETWEEN 1 AND 12);
