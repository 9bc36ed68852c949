/** The stored readings as shown by the public API, day by day. */

import type { Parameter } from '../../auth/stations/station.ts'
import { basic } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'
import type { ClockPeriod } from './clock.ts'
import { askPostgres } from './databases.ts'
import type { Ledger } from './ledger.ts'
import type { Login } from './loads.ts'
import type { StoredRow } from './oracle.ts'

interface Point {
  v: number
}
type Day = Record<'temperature' | 'humidity' | 'pressure', Point[]>

const atOnce = 4
const slackMs = 60_000

/** Sorted by time for each device. The API rounds times to minutes, so they are omitted. */
export async function readPublic(
  port: number,
  ledger: Ledger,
  erased: ReadonlySet<string>,
  clock: readonly ClockPeriod[] = [],
): Promise<StoredRow[]> {
  const questions = [...daysOf(ledger, [0, ...clock.map(({ offsetMs }) => offsetMs)])].flatMap(([device, days]) =>
    [...days].sort().map(day => ({ device, day })),
  )
  const rows = questions.map((): StoredRow[] => [])
  let next = 0
  const ask = async () => {
    for (let index = next++; index < questions.length; index = next++) {
      const { device, day } = questions[index] as { device: string; day: string }
      rows[index] = rowsOf(device, await readDay(port, device, day, erased.has(device)))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, ask))
  return rows.flat()
}

/** All days that may have readings of the device, with the clock ahead by any of these offsets. */
function daysOf({ attempts }: Ledger, offsetsMs: number[]): Map<string, Set<string>> {
  const days = new Map<string, Set<string>>()
  for (const { device, timeMs, startMs, endMs } of attempts) {
    const known = days.get(device) ?? new Set()
    days.set(device, known)
    const stamps = offsetsMs.flatMap(offset => [startMs + offset - slackMs, (endMs ?? startMs) + offset + slackMs])
    for (const ms of timeMs === undefined ? stamps : [timeMs]) {
      known.add(new Date(ms).toISOString().slice(0, 10))
    }
  }
  return days
}

async function readDay(port: number, device: string, day: string, isErased: boolean): Promise<Day> {
  let body = ''
  let isGone = false
  await waitFor(`${device} on ${day} is answered`, async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/data/day/${device}/${day}`)
    body = await response.text()
    isGone = isErased && response.status === 404
    return isGone || response.status === 200
  })
  return isGone ? { temperature: [], humidity: [], pressure: [] } : (JSON.parse(body) as Day)
}

function rowsOf(device: string, { temperature, humidity, pressure }: Day): StoredRow[] {
  if (humidity.length !== temperature.length || pressure.length !== temperature.length)
    throw new Error(`${device} has series of different lengths`)
  return temperature.map((point, index) => ({
    device,
    timeUs: undefined,
    values: {
      temperature: point.v,
      humidity: humidity[index]?.v ?? Number.NaN,
      pressure: pressure[index]?.v ?? Number.NaN,
    },
  }))
}

/** Sorted by time for each station. An erased station may be missing. */
export async function readPublicPoints(
  port: number,
  stations: readonly Login[],
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

export function stationOf(seriesName: string): string {
  return seriesName.slice(0, seriesName.indexOf(' '))
}

interface ShownPoint {
  sn: string
  parameter: Parameter
  unit: string
  /** UTC, without a zone. */
  timestamp: string
  value_1min: number
}

function rowOf({ sn, parameter, unit, timestamp, value_1min: value }: ShownPoint): StoredRow {
  return { device: `${sn} ${parameter}`, timeUs: Date.parse(`${timestamp}Z`) * 1000, values: { value, unit } }
}

/** The station and parameter for each series number. */
export async function readSeriesNames(postgresUrl: string, stations: readonly Login[]): Promise<Map<number, string>> {
  const text = `SELECT number, sn || ' ' || parameter AS name FROM station_series JOIN stations ON id = station_id
    WHERE sn = ANY($1)`
  const names = stations.map(({ name }) => name)
  const rows = await askPostgres<{ number: number; name: string }>(postgresUrl, text, [names])
  return new Map(rows.map(({ number, name }) => [number, name]))
}
