-- Work that ended the process, or the evaluation of rules, once: it is not repeated until a person asks for it.
CREATE TABLE set_aside (
  kind text NOT NULL CHECK (kind ~ '^[a-z]{1,20}$'),
  id bigint NOT NULL,
  at timestamptz NOT NULL,
  -- The code or the name of the error: its message may hold an address.
  fault text NOT NULL,
  PRIMARY KEY (kind, id)
);
