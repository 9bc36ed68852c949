-- What devices measure: the registry of metrics, and which device has which of them.

CREATE TABLE metrics (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL CONSTRAINT metrics_name UNIQUE CHECK (name ~ '^[a-z][a-z0-9_]{0,47}$'),
  title text NOT NULL,
  unit text,
  kind text NOT NULL CHECK (kind IN ('gauge', 'counter', 'direction', 'state', 'rate')),
  decimals smallint NOT NULL CHECK (decimals BETWEEN 0 AND 10),
  min double precision,
  max double precision,
  quality jsonb,
  color text CHECK (color ~ '^#[0-9a-f]{6}$'),
  position integer NOT NULL CHECK (position BETWEEN 0 AND 1000000),
  -- A column of the table of readings, and not a series of its own.
  built_in boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  CHECK (min < max)
);

INSERT INTO metrics (name, title, unit, kind, decimals, min, max, position, built_in) VALUES
  ('temperature', 'Temperature', 'Cel', 'gauge', 1, -90, 85, 1, true),
  ('humidity', 'Humidity', '%', 'gauge', 0, 0, 103, 2, true),
  ('pressure', 'Pressure', 'hPa', 'gauge', 1, 300, 1100, 3, true),
  ('battery_voltage', 'Battery voltage', 'V', 'gauge', 2, 0, 100, 4, true),
  ('battery_percentage', 'Battery charge', '%', 'gauge', 0, 0, 110, 5, true);

-- A series is one metric of one device. Its number is given once: it is the key of stored values.
CREATE TABLE metric_series (
  number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  device integer NOT NULL REFERENCES devices,
  metric integer NOT NULL CONSTRAINT metric_series_metric_fkey REFERENCES metrics,
  UNIQUE (device, metric)
);
CREATE INDEX metric_series_metric ON metric_series (metric);

-- The metrics that a device has, by name; without them, those that it sends.
ALTER TABLE devices ADD COLUMN metrics text[] CHECK (cardinality(metrics) BETWEEN 1 AND 64);
