-- From where on a device's readings are suspect, where that differs from all devices; checked by auth/devices/device.ts.

ALTER TABLE devices ADD COLUMN quality_limits jsonb;
