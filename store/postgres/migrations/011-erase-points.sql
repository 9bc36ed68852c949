-- The points of a removed station are erased by the same jobs as the readings of a device.

ALTER TABLE erase_jobs RENAME COLUMN device TO name;
ALTER TABLE erase_jobs ADD COLUMN rows_of text NOT NULL DEFAULT 'readings' CHECK (rows_of IN ('readings', 'points'));
ALTER TABLE erase_jobs ALTER COLUMN rows_of DROP DEFAULT;
DROP INDEX erase_jobs_device;
CREATE INDEX erase_jobs_name ON erase_jobs (rows_of, name, id);

-- Those that were removed before left their points.
INSERT INTO erase_jobs (rows_of, name, numbers, symbols)
SELECT 'points', sn, ARRAY(SELECT number FROM station_series WHERE station_id = stations.id ORDER BY number), '{}'
FROM stations WHERE removed_at IS NOT NULL ORDER BY id;
