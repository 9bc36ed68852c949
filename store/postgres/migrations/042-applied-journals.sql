-- Which journals QuestDB keeps positions of: see ingest/forwarder/applied-positions.ts.

CREATE TABLE applied_journals (
  -- A topic of Kafka, or "disk:" and the table of a journal on disk.
  journal text PRIMARY KEY,
  -- Its key in QuestDB. A QuestDB without it has lost its tables, or belongs to another service.
  id uuid NOT NULL UNIQUE,
  -- The time of the oldest row when the first position was written.
  since timestamptz NOT NULL
);
