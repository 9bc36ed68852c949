-- Where the journal is Kafka: the classes of times of receipt, of which each process has some (ingest/journal/stamp-classes.ts).

CREATE TABLE stamp_classes (
  -- The microsecond of each of its stamps, modulo 50; 0, which has the whole milliseconds, belongs to clients.
  class integer PRIMARY KEY CHECK (class BETWEEN 1 AND 49),
  -- The process that gives out its stamps; null when none does.
  holder uuid,
  -- From then on another process may take it.
  expires_at timestamptz,
  -- Epoch microseconds that no stamp of the class lies above. The holder raises it before it gives out later ones, and whoever has
  -- the class next begins above it: so none is given out twice, also by a process that has lost the class and does not know.
  bound_us bigint NOT NULL DEFAULT 0 CHECK (bound_us >= 0)
);
INSERT INTO stamp_classes (class) SELECT generate_series(1, 49);
