-- How pages show values and times to a person: units and a time zone, by the names of auth/accounts/preferences.ts. Null: nothing chosen.

ALTER TABLE accounts ADD COLUMN preferences jsonb CHECK (jsonb_typeof(preferences) = 'object');
