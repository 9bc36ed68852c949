-- What a device is for, and what battery it has: statistics depend on both.

ALTER TABLE devices
  ADD COLUMN profile text NOT NULL DEFAULT 'none' CHECK (profile IN ('none', 'weather', 'indoor', 'cold_chain', 'greenhouse')),
  ADD COLUMN battery_type text CHECK (battery_type IN ('alkaline', 'li-ion', 'lifepo4', 'li-primary', 'coin', 'nimh')),
  ADD COLUMN battery_cells smallint CHECK (battery_cells BETWEEN 1 AND 24);
