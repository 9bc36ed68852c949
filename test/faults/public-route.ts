/** The stored readings as anybody sees them: by the public API, day after day. */

import { waitFor } from '../support/wait-for.ts'
import type { ClockPeriod } from './clock-periods.ts'
import type { Ledger } from './ledger.ts'
import type { StoredRow } from './oracle.ts'

interface Point {
  v: number
}
type Day = Record<'temperature' | 'humidity' | 'pressure', Point[]>

const atOnce = 4
const slackMs = 60_000

/** In the order of time for each device. The API tells times to the minute, so they are left out. */
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

/** All days on which a reading of the device may be, when the clock is ahead by one of these. */
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
