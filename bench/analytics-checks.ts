/** Verifies responses of the analyses against the known properties of the generated devices. */

import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { differences } from '../analytics/reliability/thinning.ts'
import { createLocalTime } from '../analytics/time/local-time.ts'
import { known, type MadeSeries, madeTimesMs } from './made-series.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const reliabilityDays = 30
/** Under noise the period is met to a few parts in ten thousand. */
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
export function checkStats(text: string, made: MadeSeries, days: number): number {
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
export function checkDaily(text: string, made: MadeSeries, days: number, timeZone: string): void {
  const answer: DailyFigures = JSON.parse(text)
  strictEqual(answer.days.length, days, 'days')
  const count = answer.days.reduce((sum, { temperature }) => sum + temperature.count, 0)
  const { startMs } = localDay(answer.days[0]?.date ?? '', timeZone)
  strictEqual(count, countBetween(made, startMs, Number.POSITIVE_INFINITY), 'readings')
}

type PastFigures = Record<string, { date: string; hours: { temperature: { count: number } }[] }>

/** Every reading of each day. */
export function checkPast(text: string, made: MadeSeries, timeZone: string): void {
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
export function checkCompare(text: string, a: MadeSeries, b: MadeSeries, days: number): void {
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
export function checkDetail(text: string, made: MadeSeries): void {
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
