/**
 * The analyses over HTTP, on the whole service with both databases: the time of each without a cache, against plain
 * SQL that fetches the same readings, and with one. Then fifty run at a time while readings arrive. Every response is
 * verified against the properties of the generated devices.
 *
 * "Cold" is the first query of its kind for a device. The code is warm: the first devices of each kind are not
 * counted.
 *
 * Usage: node bench/analytics.ts [devices with a month] [devices with a year] [seconds of load]
 */

import { quantile } from 'simple-statistics'
import type { Service } from '../test/support/service.ts'
import { checkCompare, checkDaily, checkDetail, checkPast, checkStats } from './analytics-checks.ts'
import { measureUnderLoad } from './analytics-load.ts'
import { createBounds } from './bounds.ts'
import { ask, type MadeDevice, startMadeFleet } from './made-fleet.ts'
import { createHooks, hardware, round } from './measure.ts'
import { plainSqlMs } from './plain-sql.ts'
import { deviceName } from './service.ts'

const monthCount = Number(process.argv[2] ?? 50)
/** Enough samples that a single slow response is not the 95th percentile. */
const yearCount = Number(process.argv[3] ?? 30)
const loadSeconds = Number(process.argv[4] ?? 20)
const warmUps = 5
const loggerCount = 1000
const timeZone = 'Europe/Berlin'
const minuteMs = 60_000
/** One reading every five seconds: more than a million in this number of days. */
const longDays = 65
const longTurns = 3
const cachedTurns = 200

const { hooks, closeAll } = createHooks()
const bounds = createBounds()

interface Measured {
  readonly service: Service
  /** Duration of plain SQL for the readings of this number of days. */
  readonly sqlMs: (devices: readonly MadeDevice[], days: number) => Promise<number>
}

/** Sequential queries with verified responses. The first devices warm the service up. */
async function askEach(
  service: Service,
  devices: readonly MadeDevice[],
  pathOf: (made: MadeDevice, next: MadeDevice) => string,
  check: (text: string, made: MadeDevice, next: MadeDevice) => void,
): Promise<{ ms: number[]; firstMs: number }> {
  const all: number[] = []
  for (const [place, made] of devices.entries()) {
    const next = devices[(place + 1) % devices.length] as MadeDevice
    const { ms, text } = await ask(service, pathOf(made, next))
    check(text, made, next)
    all.push(ms)
  }
  return { ms: all.slice(Math.min(warmUps, all.length - 1)), firstMs: round(all[0] ?? Number.NaN) }
}

async function measureMonths({ service, sqlMs }: Measured, devices: readonly MadeDevice[]): Promise<void> {
  const { ms, firstMs } = await askEach(
    service,
    devices,
    ({ path }) => `stats_data/${path}`,
    (text, made) => checkStats(text, made, 30),
  )
  bounds.p95('stats_data, 30 days of minutes, cold', ms, await sqlMs(devices, 30), 8, { firstMs })
  const path = devices.at(-1)?.path
  const [cached, other]: number[][] = [[], []]
  for (let turn = 0; turn < cachedTurns; turn++) {
    cached?.push((await ask(service, `stats_data/${path}`)).ms)
    other?.push((await ask(service, `device/${path}`)).ms)
  }
  bounds.p95('stats_data, cached, against device', cached ?? [], quantile(other ?? [], 0.95), 5)
}

/** Each turn asks for a day less, so that no answer is there already. */
async function measureLong({ service, sqlMs }: Measured, made: MadeDevice): Promise<void> {
  const ms: number[] = []
  let readings = 0
  for (let turn = 0; turn <= longTurns; turn++) {
    const days = longDays - turn
    const asked = await ask(service, `stats_data/${made.path}?days=${days}`)
    readings = checkStats(asked.text, made, days)
    if (turn > 0) ms.push(asked.ms)
  }
  bounds.p95('stats_data, a million readings, cold', ms, await sqlMs([made], longDays), 8, { readings })
}

async function measureYears({ service, sqlMs }: Measured, devices: readonly MadeDevice[]): Promise<void> {
  const compare = await askEach(
    service,
    devices,
    (a, b) => `compare_data?a=${a.path}&b=${b.path}&preset=30d`,
    (text, a, b) => checkCompare(text, a, b, 30),
  )
  const [monthMs, yearMs] = [await sqlMs(devices, 30), await sqlMs(devices, 365)]
  bounds.p95('compare_data, 30 days, cold', compare.ms, monthMs, 8, { firstMs: compare.firstMs })
  const measure = async (
    name: string,
    query: string,
    yardstickMs: number,
    check: (text: string, made: MadeDevice) => void,
  ) => {
    const [endpoint] = name.split(',')
    const { ms, firstMs } = await askEach(service, devices, ({ path }) => `${endpoint}/${path}${query}`, check)
    bounds.p95(`${name}, cold`, ms, yardstickMs, 8, { firstMs })
  }
  await measure('detail_data', '', monthMs, checkDetail)
  await measure('past_window_data', '', monthMs, (text, made) => checkPast(text, made, timeZone))
  await measure('daily_summary, 30 days', '', monthMs, (text, made) => checkDaily(text, made, 30, timeZone))
  await measure('daily_summary, 366 days', '?days=366', yearMs, (text, made) => checkDaily(text, made, 366, timeZone))
}

async function bench(): Promise<void> {
  const kinds = [
    { count: monthCount, days: 31, stepMs: minuteMs },
    { count: yearCount, days: 365, stepMs: minuteMs },
    { count: 1, days: longDays + 1, stepMs: 5000 },
  ]
  const fleet = await startMadeFleet(hooks, kinds, 1 + loggerCount, { TIME_ZONE: timeZone })
  const [months = [], years = [], longs = []] = fleet.made
  const { service, store } = fleet
  const measured = { service, sqlMs: (made: readonly MadeDevice[], days: number) => plainSqlMs(store, made, days) }
  await measureMonths(measured, months)
  for (const made of longs) await measureLong(measured, made)
  await measureYears(measured, years)
  const silentPath = encodeURIComponent(deviceName(fleet.made.flat().length))
  const requests = fleet.requests.slice(-loggerCount)
  await measureUnderLoad(hooks, bounds, { bench: fleet, devices: months, silentPath, requests, seconds: loadSeconds })
  const devices = { month: monthCount, year: yearCount }
  bounds.conclude({ bench: 'analytics', devices, hardware: hardware() })
}

try {
  await bench()
} finally {
  await closeAll()
}
