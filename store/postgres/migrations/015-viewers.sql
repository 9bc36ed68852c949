-- Whether an account reads all devices where reads are private (READS=private); administrators do in any case.

ALTER TABLE accounts ADD COLUMN is_viewer boolean NOT NULL DEFAULT false;
