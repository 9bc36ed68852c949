-- The text of a key is made when its device fetches it: until then there is none to keep.

ALTER TABLE device_grants DROP COLUMN public_key, DROP COLUMN sealed_key;
