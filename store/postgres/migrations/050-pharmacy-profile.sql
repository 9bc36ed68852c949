-- A refrigerator of a pharmacy has limits of its own; other cold chains have those that are set for the device.

ALTER TABLE devices DROP CONSTRAINT devices_profile_check;
ALTER TABLE devices ADD CONSTRAINT devices_profile_check
  CHECK (profile IN ('none', 'weather', 'indoor', 'cold_chain', 'pharmacy', 'greenhouse'));
