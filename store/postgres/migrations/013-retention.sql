-- Where raw readings expire (RETENTION_DAYS): what is before this is refused for good, also when more days are kept later.

CREATE TABLE retention (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  accepted_from timestamptz NOT NULL
);
