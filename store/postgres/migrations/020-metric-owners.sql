-- The account of the device whose reading has made a metric: of one account they are bounded. Null for what administrators have
-- added, for names of the catalogue, and for devices without an owner. It stays when the account is gone, as the metric does.

ALTER TABLE metrics ADD COLUMN owner integer;
