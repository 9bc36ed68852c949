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

import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { median, quantile } from 'simple-statistics'
import { differences } from '../analytics/reliability/interval-estimate.ts'
import { createLocalTime } from '../analytics/time/local-time.ts'
import { readingsTable } from '../store/tables.ts'
import type { Service } from '../test/support/service.ts'
import { measureUnderLoad } from './analytics-load.ts'
import { startBench } from './bounds.ts'
import { ask, type MadeDevice, startMadeFleet } from './made-fleet.ts'
import { known, type MadeSeries, madeTimesMs } from './made-series.ts'
import { round } from './measure.ts'
import { deviceName } from './service.ts'
import type { BenchStore } from './store.ts'

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

const { hooks, bounds, run } = startBench()

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
  bounds.conclude({ bench: 'analytics', devices })
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const reliabilityDays = 30
/** The period is off by a few parts in ten thousand under noise. */
const periodTolerance = 1e-3

interface StatsFigures {
  n_samples: number
  reliability: { gaps: { duration_seconds: number; ongoing: boolean }[] }
  seasonality: { temperature: { peaks: { period_hours: number; significant: boolean }[] } }
  correlations: { pairs: { a: string; b: string; lag_seconds: number }[] }
}

/**
 * The number of readings, the silences to the millisecond, the cycle's period, the lag to the minute. Returns the first.
 */
function checkStats(text: string, made: MadeSeries, days: number): number {
  const { n_samples, reliability, seasonality, correlations }: StatsFigures = JSON.parse(text)
  strictEqual(n_samples, lastDays(made, days).length, 'readings')
  const reported = reliability.gaps.filter(({ ongoing }) => !ongoing).map(gap => gap.duration_seconds)
  const silences = [...differences(lastDays(made, reliabilityDays))].map(lengthMs => lengthMs / 1000).reverse()
  const isLong = (seconds: number) => seconds > hourMs / 1000
  deepStrictEqual(reported.filter(isLong), silences.filter(isLong), 'silences')
  const [peak] = seasonality.temperature.peaks
  const off = Math.abs((peak?.period_hours ?? 0) / known.periodHours - 1)
  ok(peak?.significant === true && off < periodTolerance, `a period of ${peak?.period_hours} h`)
  const pair = correlations.pairs.find(({ a, b }) => a === 'temperature' && b === 'humidity')
  strictEqual(pair?.lag_seconds, known.lagSeconds, 'lag')
  return n_samples
}

/** The times of the readings in the days before the last one. */
function lastDays(made: MadeSeries, days: number): Float64Array {
  const timesMs = madeTimesMs(made)
  const afterMs = (timesMs.at(-1) ?? 0) - days * dayMs
  return timesMs.filter(timeMs => timeMs > afterMs)
}

interface DailyFigures {
  days: { date: string; temperature: { count: number } }[]
}

/** All the days, and every reading since the first of them. */
function checkDaily(text: string, made: MadeSeries, days: number, timeZone: string): void {
  const answer: DailyFigures = JSON.parse(text)
  strictEqual(answer.days.length, days, 'days')
  const count = answer.days.reduce((sum, { temperature }) => sum + temperature.count, 0)
  const { startMs } = localDay(answer.days[0]?.date ?? '', timeZone)
  strictEqual(count, countBetween(made, startMs, Number.POSITIVE_INFINITY), 'readings')
}

type PastFigures = Record<string, { date: string; hours: { temperature: { count: number } }[] }>

/** Every reading of each day. */
function checkPast(text: string, made: MadeSeries, timeZone: string): void {
  const days: PastFigures = JSON.parse(text)
  for (const key of ['yesterday', '7d', '30d']) {
    const { date = '', hours = [] } = days[key] ?? {}
    const count = hours.reduce((sum, { temperature }) => sum + temperature.count, 0)
    const { startMs, endMs } = localDay(date, timeZone)
    strictEqual(count, countBetween(made, startMs, endMs), `readings of ${key}`)
  }
}

function localDay(date: string, timeZone: string): { startMs: number; endMs: number } {
  const { startUs = Number.NaN, endUs = Number.NaN } = createLocalTime(timeZone).day(date) ?? {}
  return { startMs: startUs / 1000, endMs: endUs / 1000 }
}

function countBetween(made: MadeSeries, startMs: number, endMs: number): number {
  return madeTimesMs(made).filter(timeMs => timeMs >= startMs && timeMs < endMs).length
}

interface CompareFigures {
  temperature: { diff: unknown[]; stats: { n: number; lag_seconds: number } }
}

/** Every hour in which both have a reading, and that the two go together. */
function checkCompare(text: string, a: MadeSeries, b: MadeSeries, days: number): void {
  const { temperature }: CompareFigures = JSON.parse(text)
  const lastMs = Math.max(madeTimesMs(a).at(-1) ?? 0, madeTimesMs(b).at(-1) ?? 0)
  const endMs = Math.floor(lastMs / hourMs) * hourMs
  const hoursOf = (made: MadeSeries) => {
    const inside = madeTimesMs(made).filter(timeMs => timeMs >= endMs - days * dayMs && timeMs < endMs)
    return new Set(inside.map(timeMs => Math.floor(timeMs / hourMs)))
  }
  const both = hoursOf(a).intersection(hoursOf(b)).size
  strictEqual(temperature.stats.n, both, 'hours')
  strictEqual(temperature.diff.length, both, 'differences')
  strictEqual(temperature.stats.lag_seconds, 0, 'lag')
}

interface DetailFigures {
  last_24h: { temperature: unknown[] }
  last_30d_hourly: { temperature: { count: number }[] }
}

/** Nearly every reading of a day and of a month: the minutes since the series was made are its end's. */
function checkDetail(text: string, made: MadeSeries): void {
  const { last_24h, last_30d_hourly }: DetailFigures = JSON.parse(text)
  const lateMinutes = Math.ceil((Date.now() - made.endMs) / 60_000)
  const isNear = (count: number, days: number) => {
    const all = lastDays(made, days).length
    ok(count <= all + 60 && count >= all - lateMinutes - 60, `${count} of ${all} readings in ${days} days`)
  }
  isNear(last_24h.temperature.length, 1)
  isNear(
    last_30d_hourly.temperature.reduce((sum, { count }) => sum + count, 0),
    30,
  )
}

const samplesMax = 5

/** Milliseconds, as the median of some devices. Each is queried twice, since the first query reads the rows from disk. */
async function plainSqlMs({ questdb }: BenchStore, devices: readonly MadeSeries[], days: number): Promise<number> {
  const { host, port, authorization = '' } = questdb.http
  const ms: number[] = []
  for (const { device, endMs } of devices.slice(0, samplesMax)) {
    const from = new Date(endMs - days * 86_400_000).toISOString()
    const sql = `SELECT * FROM ${readingsTable} WHERE device = '${device.symbol}' AND ts >= '${from}'`
    const url = `http://${host}:${port}/exp?query=${encodeURIComponent(sql)}`
    for (let turn = 0; turn < 2; turn++) {
      const startedMs = performance.now()
      const response = await fetch(url, { headers: { authorization } })
      await response.arrayBuffer()
      if (!response.ok) throw new Error(`QuestDB answered ${response.status}`)
      if (turn === 1) ms.push(performance.now() - startedMs)
    }
  }
  return median(ms)
}

await run(bench)
