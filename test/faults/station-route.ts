/** The stored points as anybody with a key sees them, and the numbers of their series. */

import pg from 'pg'
import type { Parameter } from '../../auth/stations/station.ts'
import { basic } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'
import type { StoredRow } from './oracle.ts'

export interface StationUnderTest {
  /** Its serial number. */
  name: string
  /** An API key. */
  password: string
}

/** In the order of time for each station. One that is erased may be gone. */
export async function readPublicPoints(
  port: number,
  stations: readonly StationUnderTest[],
  erased: ReadonlySet<string>,
): Promise<StoredRow[]> {
  const rows: StoredRow[] = []
  for (const { name, password } of stations) {
    const address = `http://127.0.0.1:${port}/api/v1.0/device/${name}/data/?format=ndjson`
    const headers = { authorization: basic(password, '') }
    await waitFor(`the points of ${name} are answered`, async () => {
      const response = await fetch(address, { headers })
      const lines = (await response.text()).split('\n')
      if (response.status === 200) rows.push(...lines.filter(line => line !== '').map(line => rowOf(JSON.parse(line))))
      return response.status === 200 || (response.status === 404 && erased.has(name))
    })
  }
  return rows
}

/** Of a series by its name. */
export function stationOf(seriesName: string): string {
  return seriesName.slice(0, seriesName.indexOf(' '))
}

interface ShownPoint {
  sn: string
  parameter: Parameter
  unit: string
  /** UTC, without a mark. */
  timestamp: string
  value_1min: number
}

function rowOf({ sn, parameter, unit, timestamp, value_1min: value }: ShownPoint): StoredRow {
  return { device: `${sn} ${parameter}`, timeUs: Date.parse(`${timestamp}Z`) * 1000, values: { value, unit } }
}

/** The station with the parameter, by the number of the series. */
export async function readSeriesNames(
  connectionString: string,
  stations: readonly StationUnderTest[],
): Promise<Map<number, string>> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    const text = `SELECT number, sn || ' ' || parameter AS name FROM station_series JOIN stations ON id = station_id
      WHERE sn = ANY($1)`
    const { rows } = await client.query<{ number: number; name: string }>(text, [stations.map(({ name }) => name)])
    return new Map(rows.map(({ number, name }) => [number, name]))
  } finally {
    await client.end()
  }
}
