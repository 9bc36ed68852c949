/** What daily means tell of a fleet: which batteries run out, and which devices measure something else than the others. */

import { batteryDays, type DailyMean } from '../../analytics/fleet/battery-days.ts'
import { oddOnesOut } from '../../analytics/fleet/odd-ones-out.ts'
import type { FleetEntry } from '../fleet.ts'
import { type BatteryInsight, type Insights, insightsMax, type OutlierInsight } from '../shapes/insights.ts'
import type { MeansTable } from './means-table.ts'

/** Stretches of 24 hours; the last one is the most recent. */
export const days = 30
/** Of the last 24 hours. Who has values in each is compared: half a day may be a cold night. */
export const quarters = 4
/** In the order of their means. The charge is preferred: a voltage needs a guess at the kind of battery. */
export const batteryMetrics = ['battery_percentage', 'battery_voltage'] as const
export const comparedMetrics = ['temperature', 'humidity', 'pressure'] as const

/** A line through 30 days says nothing of what is further away. */
const daysMax = 90
const percentageLimits = { end: 0, jump: 10, daysMax }
const voltageJump = 0.2
/** By the highest of the means: a battery that begins there is empty at `end`. The source is in docs/statistics.md. */
const voltageEnds = [
  { from: 3.4, to: 4.5, end: 3 },
  { from: 2, to: 3.4, end: 2 },
]
/** Two sensors at the same place may differ by so much: twice the tolerance of common ones. The source is in docs/statistics.md. */
const differenceMin = { temperature: 1, humidity: 6, pressure: 2 }

interface FleetMeans {
  readonly fleet: readonly FleetEntry[]
  /** Of `days` days and `batteryMetrics`. */
  readonly batteries: MeansTable
  /** Of `quarters` of the last day and `comparedMetrics`. */
  readonly lastDay: MeansTable
  readonly generatedAtMs: number
}

export function buildInsights({ fleet, batteries, lastDay, generatedAtMs }: FleetMeans): Insights {
  const ending = fleet.flatMap(({ name }, place) => batteryOf(name, place, batteries) ?? [])
  const odd = comparedMetrics.flatMap((_, metric) => outliersOf(fleet, metric, lastDay))
  ending.sort((a, b) => a.days_left - b.days_left)
  odd.sort((a, b) => Math.abs(b.score) - Math.abs(a.score))
  return {
    generated_at: generatedAtMs,
    batteries: ending.slice(0, insightsMax),
    batteries_total: ending.length,
    outliers: odd.slice(0, insightsMax),
    outliers_total: odd.length,
  }
}

function batteryOf(device: string, place: number, table: MeansTable): BatteryInsight | undefined {
  const charge = meansOf(place, 0, table)
  const isCharge = charge.length > 0
  const means = isCharge ? charge : meansOf(place, 1, table)
  const limits = isCharge ? percentageLimits : voltageLimits(means)
  const last = means.at(-1)
  // One that has been silent for a day is found by its state.
  if (limits === undefined || last === undefined || last.day < days - 2) return undefined
  const found = batteryDays(means, limits)
  if (found === undefined) return undefined
  const sinceDays = days - 1 - last.day
  const left = (value: number) => rounded(Math.max(0, value - sinceDays), 1)
  const entry = { device, days_left: left(found.daysLeft), low: left(found.low), high: left(found.high) }
  const perDay = Number(found.perDay.toPrecision(4))
  return isCharge
    ? { ...entry, metric: 'battery_percentage', percent_per_day: perDay }
    : { ...entry, metric: 'battery_voltage', volts_per_day: perDay }
}

function voltageLimits(means: readonly DailyMean[]) {
  const highest = means.reduce((max, { mean }) => Math.max(max, mean), 0)
  const kind = voltageEnds.find(({ from, to }) => highest >= from && highest < to)
  return kind === undefined ? undefined : { end: kind.end, jump: voltageJump, daysMax }
}

function meansOf(place: number, metric: number, table: MeansTable): DailyMean[] {
  return Array.from({ length: days }, (_, day) => ({ day, mean: table.mean(place, day, metric) })).filter(
    ({ mean }) => !Number.isNaN(mean),
  )
}

function outliersOf(fleet: readonly FleetEntry[], index: number, table: MeansTable): OutlierInsight[] {
  const metric = comparedMetrics[index] as (typeof comparedMetrics)[number]
  const having = fleet
    .map(({ name }, place) => ({ name, value: meanOfDay(place, index, table) }))
    .filter(({ value }) => !Number.isNaN(value))
  const found = oddOnesOut(having.map(({ value }) => value))
  if (found === undefined) return []
  return found.odd.flatMap(({ index: at, score }) => {
    const one = having[at]
    if (one === undefined || Math.abs(one.value - found.median) < differenceMin[metric]) return []
    const figures = { value: rounded(one.value, 2), median: rounded(found.median, 2), score: rounded(score, 2) }
    return { device: one.name, metric, ...figures }
  })
}

/** NaN when a quarter of the day has no value. */
function meanOfDay(place: number, metric: number, table: MeansTable): number {
  let sum = 0
  for (let quarter = 0; quarter < quarters; quarter++) sum += table.mean(place, quarter, metric)
  return sum / quarters
}

function rounded(value: number, decimals: number): number {
  const scale = 10 ** decimals
  return Math.round(value * scale) / scale
}
