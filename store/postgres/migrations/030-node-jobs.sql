-- Several nodes of a service of which one at a time erases, and makes raw readings expire.

-- Which run of a job may write its report: a process that was frozen must not end the job of a later one.
ALTER TABLE erase_jobs ADD COLUMN runs integer NOT NULL DEFAULT 0;

-- What the node that makes readings expire tells the others.
CREATE TABLE retention_state (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  state jsonb NOT NULL
);
