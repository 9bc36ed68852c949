-- Whether a device has used the newer one of its two passwords: a rotation within the grace time keeps the one in use.
-- False again with each new password.

ALTER TABLE devices ADD COLUMN next_used boolean NOT NULL DEFAULT false;
