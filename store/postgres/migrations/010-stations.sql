-- Air-quality stations and the numbers of their series.

-- Half of each page stays free, so that noting when data came need not touch any index.
CREATE TABLE stations (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sn text NOT NULL CHECK (sn ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  model text NOT NULL,
  city text,
  country text CHECK (country ~ '^[A-Z]{2}$'),
  location text,
  latitude double precision CHECK (latitude BETWEEN -90 AND 90),
  longitude double precision CHECK (longitude BETWEEN -180 AND 180),
  outdoors boolean,
  timezone text NOT NULL,
  private boolean NOT NULL,
  owner integer REFERENCES accounts,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  last_data_at timestamptz,
  removed_at timestamptz
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX stations_sn ON stations (sn) WHERE removed_at IS NULL;
CREATE INDEX stations_owner ON stations (owner) WHERE owner IS NOT NULL;

-- A series is one parameter of one station. Its number is part of the id of each of its points, 21 bits of it, so it is
-- given once: a station that was removed keeps its numbers.
CREATE TABLE station_series (
  number integer PRIMARY KEY CHECK (number BETWEEN 1 AND 2097151),
  station_id integer NOT NULL REFERENCES stations,
  parameter text NOT NULL CHECK (parameter IN ('so2', 'o3', 'no2', 'no', 'co', 'pm1', 'pm25', 'pm10')),
  UNIQUE (station_id, parameter)
);
CREATE SEQUENCE station_series_number AS integer MAXVALUE 2097151 NO CYCLE OWNED BY station_series.number;
ALTER TABLE station_series ALTER COLUMN number SET DEFAULT nextval('station_series_number');
