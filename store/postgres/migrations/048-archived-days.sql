-- Days of raw readings that are in the archive: their files, each with its rows, sums and digest. A day without a row is not archived.
CREATE TABLE archived_days (
  day date PRIMARY KEY,
  revision integer NOT NULL CHECK (revision > 0),
  -- Sums of the rows in QuestDB that the files have.
  source jsonb NOT NULL,
  files jsonb NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now()
);

-- The name of this service in its archive.
CREATE TABLE archive (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  id uuid NOT NULL DEFAULT gen_random_uuid()
);
