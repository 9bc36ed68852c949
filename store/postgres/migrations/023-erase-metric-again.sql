-- The device of a job for one metric, whatever its name is later: what a job that failed has left is asked for again by the device.

ALTER TABLE erase_jobs ADD COLUMN device integer;
ALTER TABLE erase_jobs ADD CONSTRAINT erase_jobs_device_check CHECK (device IS NULL OR metric IS NOT NULL);
UPDATE erase_jobs SET device = devices.number FROM devices
WHERE metric IS NOT NULL AND devices.name = erase_jobs.name AND created_at <= requested_at
  AND (removed_at IS NULL OR removed_at >= requested_at);
CREATE INDEX erase_jobs_device ON erase_jobs (device) WHERE device IS NOT NULL;
