-- Values of one metric of a device are erased by the same jobs as the readings of a device and the points of a station.

ALTER TABLE erase_jobs DROP CONSTRAINT erase_jobs_rows_of_check;
ALTER TABLE erase_jobs ADD CONSTRAINT erase_jobs_rows_of_check CHECK (rows_of IN ('readings', 'measurements', 'points'));
-- Of values: the numbers are those of their series, which the registry does not have any more.
ALTER TABLE erase_jobs ADD COLUMN metric text;
ALTER TABLE erase_jobs ADD CONSTRAINT erase_jobs_metric_check CHECK ((rows_of = 'measurements') = (metric IS NOT NULL));
