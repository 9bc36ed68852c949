/** The values of a device's custom metrics, as each kind needs them, fetched in a worker. */

import { lowerBound, upperBound } from '../../analytics/lower-bound.ts'
import { presentOf, type Samples } from '../../analytics/present.ts'
import { unknownState } from '../../analytics/state/state-runs.ts'
import { bug } from '../../store/limits/bug.ts'
import type { SeriesHourColumn } from '../../store/tables.ts'
import { metrics as columns } from '../../store/tables.ts'
import {
  alignedTo,
  type CustomMetric,
  type CustomSamples,
  counterSamplesAround,
  type ExpiredHours,
  stateHoldMaxMs,
  type ValuesPlace,
} from '../custom-metric.ts'
import { QueryFailed } from '../query-failed.ts'
import type { KeptHours } from '../questdb/measurements-source.ts'
import type { Series } from '../series.ts'
import type { MetricKind } from '../shapes/kinds.ts'
import type { TaskContext } from '../task-context.ts'

export interface SamplesRange {
  /** The start is not part of the range. */
  readonly afterUs: number
  /** The end is part of the range. */
  readonly throughUs: number
  /** Set where newer values may exist behind the range: the search for them ends here. */
  readonly untilUs?: number
}

/** The limit of values is this many times the limit of readings. */
const valuesPerReading = 2
/** Values around the range are searched as far as a state may hold. */
const aroundUs = stateHoldMaxMs * 1000

/**
 * Values of (afterUs, throughUs], in the metrics' order. States include the newest value before and the oldest one
 * behind, each within a week. Counters include two of each, to detect noise. `readings` supplies metrics that are
 * columns of the readings.
 */
export async function customSamples(
  metrics: readonly CustomMetric[],
  range: SamplesRange,
  readings: Series | undefined,
  context: Pick<TaskContext, 'measurements' | 'signal' | 'rowsMax'>,
): Promise<CustomSamples[]> {
  const { measurements, signal, rowsMax } = context
  const places = metrics.flatMap(({ speed, ...metric }) => [metric, ...(speed === undefined ? [] : [speed])])
  const series = [...new Set(places.flatMap(place => place.series ?? []))]
  const bySeries = await measurements.samples({ series, ...range, rowsMax: valuesPerReading * rowsMax }, signal)
  const samplesAt = (place: ValuesPlace) => samplesOf(place, bySeries, readings)
  const all: CustomSamples[] = []
  for (const metric of metrics) {
    const samples = isContinued(metric) ? await continued(metric, samplesAt(metric), range, context) : samplesAt(metric)
    const paired = metric.speed === undefined ? undefined : samplesAt(metric.speed)
    all.push({ metric, ...pairedWith(samples, paired) })
  }
  return all
}

/**
 * The same for [fromMs, throughUs], by whole hours. Expired hours use their kept figures. Counters and states begin
 * with values before the range, also where these have expired. The limit counts expired hours and values together.
 */
export async function customSamplesByHour(
  metrics: readonly CustomMetric[],
  { fromUs, throughUs, untilUs, expiredBeforeUs }: HourlyRange,
  context: Pick<TaskContext, 'measurements' | 'signal' | 'rowsMax'>,
): Promise<CustomSamples[]> {
  const rawFromUs = Math.min(throughUs + 1, Math.max(fromUs, expiredBeforeUs))
  const range = { afterUs: rawFromUs - 1, throughUs, ...(untilUs !== undefined && { untilUs }) }
  const raw = await customSamples(metrics, range, undefined, context)
  if (!(fromUs - aroundUs < expiredBeforeUs)) return raw
  const series = metrics.flatMap(metric => metric.series ?? [])
  const toUs = throughUs + 1 + (untilUs === undefined ? 0 : aroundUs)
  const asked = { series, fromUs: Math.max(0, fromUs - aroundUs), toUs, expiredBeforeUs }
  const kept = await context.measurements.keptHours(asked, context.signal)
  const rawCount = raw.reduce((sum, { timesMs }) => sum + timesMs.length, 0)
  let left = Math.max(0, valuesPerReading * context.rowsMax - rawCount)
  return raw.map(samples => {
    const hours = kept.get(samples.metric.series ?? Number.NaN)
    if (hours === undefined) return samples
    const standIns = expiredSamples(samples.metric.kind, hours, left)
    left -= standIns.timesMs.length
    return withExpired(samples, hours, standIns, { fromUs, throughUs, expiredBeforeUs })
  })
}

/** Custom metrics may have as many numbers as the readings themselves. */
export function checkValuesCount({ timesMs }: Series, metrics: number, rowsMax: number): void {
  if (timesMs.length * metrics <= rowsMax * columns.length) return
  throw new QueryFailed('TOO_LARGE', `${metrics} metrics of ${timesMs.length} readings exceed the limit of values`)
}

interface HourlyRange {
  readonly fromUs: number
  readonly throughUs: number
  readonly untilUs?: number
  readonly expiredBeforeUs: number
}

function withExpired(
  samples: CustomSamples,
  hours: KeptHours,
  standIns: Samples,
  { fromUs, throughUs, expiredBeforeUs }: HourlyRange,
): CustomSamples {
  const { metric, speeds } = samples
  const beforeMs = expiredBeforeUs / 1000
  const withoutMax = metric.kind === 'rate' ? startsWithoutMax(hours) : new Set<number>()
  const expired = { beforeMs, at: figuresByStart(hours), withoutMax }
  if (metric.kind === 'direction') return { ...samples, expired }
  const around = isContinued(metric) ? samplesAround(metric) : 0
  const from = Math.max(0, lowerBound(standIns.timesMs, fromUs / 1000) - around)
  const to = upperBound(standIns.timesMs, throughUs / 1000) + around
  // Expired values stay readable until their partition is dropped.
  const remaining = partOf(samples, lowerBound(samples.timesMs, beforeMs))
  return { metric, speeds, ...joined(partOf(standIns, from, to), remaining), expired }
}

function figuresByStart({ startsMs, columns: { count, sine, cosine } }: KeptHours): ExpiredHours['at'] {
  return new Map(
    Array.from(startsMs, (startMs, row) => {
      return [startMs, { count: count[row] as number, sine: sine[row] as number, cosine: cosine[row] as number }]
    }),
  )
}

function partOf({ timesMs, values }: Samples, from: number, to = timesMs.length): Samples {
  return { timesMs: timesMs.subarray(from, to), values: values.subarray(from, to) }
}

const nothing: Samples = { timesMs: new Float64Array(0), values: new Float64Array(0) }

function samplesAround({ kind }: CustomMetric): number {
  return kind === 'counter' ? counterSamplesAround : 1
}

/** Figures of a range need the values around it. */
function isContinued(metric: CustomMetric): metric is CustomMetric & { readonly series: number } {
  return metric.series !== undefined && (metric.kind === 'counter' || metric.kind === 'state')
}

async function continued(
  metric: CustomMetric & { readonly series: number },
  samples: Samples,
  { afterUs, throughUs, untilUs = throughUs }: SamplesRange,
  { measurements, signal }: Pick<TaskContext, 'measurements' | 'signal'>,
): Promise<Samples> {
  const { series } = metric
  const samplesMax = samplesAround(metric)
  const before = await measurements.newest(
    { series, samplesMax, afterUs: afterUs - aroundUs, throughUs: afterUs },
    signal,
  )
  if (untilUs <= throughUs) return joined(before, samples)
  const after = { series, samplesMax, afterUs: throughUs, throughUs: Math.min(untilUs, throughUs + aroundUs) }
  return joined(joined(before, samples), await measurements.oldest(after, signal))
}

function samplesOf(
  { series, column }: ValuesPlace,
  bySeries: ReadonlyMap<number, Samples>,
  readings: Series | undefined,
): Samples {
  if (series !== undefined) return bySeries.get(series) ?? nothing
  return column === undefined || readings === undefined ? nothing : presentOf(readings.timesMs, readings.values[column])
}

function joined(before: Samples, after: Samples): Samples {
  if (before.timesMs.length === 0) return after
  if (after.timesMs.length === 0) return before
  const join = (first: Float64Array, second: Float64Array) => {
    const both = new Float64Array(first.length + second.length)
    both.set(first)
    both.set(second, first.length)
    return both
  }
  return { timesMs: join(before.timesMs, after.timesMs), values: join(before.values, after.values) }
}

/** Merges the times of both. */
function pairedWith(
  directions: Samples,
  speeds: Samples | undefined,
): Pick<CustomSamples, 'timesMs' | 'values' | 'speeds'> {
  if (speeds === undefined) return { ...directions, speeds: undefined }
  const timesMs = Float64Array.from(new Set([...directions.timesMs, ...speeds.timesMs])).sort()
  return { timesMs, values: alignedTo(timesMs, directions), speeds: alignedTo(timesMs, speeds) }
}

type Hour = Readonly<Record<SeriesHourColumn, number>>

/**
 * More than `samplesMax` are TOO_LARGE. Directions and gauges get none, because their kept figures are used directly.
 */
export function expiredSamples(kind: MetricKind, hours: KeptHours, samplesMax: number): Samples {
  const { count, first_ts, last_ts } = hours.columns
  const valuesOf = valuesOfKind[kind]
  const length = valuesOf === undefined ? 0 : count.reduce((sum, one) => sum + one, 0)
  if (length > samplesMax) throw new QueryFailed('TOO_LARGE', `more than ${samplesMax} expired values`)
  const samples = { timesMs: new Float64Array(length), values: new Float64Array(length) }
  if (valuesOf === undefined) return samples
  let at = 0
  for (let row = 0; row < count.length; row++) {
    const values = valuesOf(hourAt(hours, row))
    const [fromMs, toMs] = [(first_ts[row] as number) / 1000, (last_ts[row] as number) / 1000]
    if (values.length !== count[row]) throw bug(`${values.length} samples for an hour of ${count[row]} values`)
    for (const [place, value] of values.entries()) {
      const stepsMs = place === 0 ? 0 : ((toMs - fromMs) * place) / (values.length - 1)
      const isUnknown = kind === 'state' && place === 1 && value === unknownState
      samples.timesMs[at] = fromMs + (isUnknown ? Math.min(unknownAfterMs, stepsMs) : stepsMs)
      samples.values[at++] = value
    }
  }
  return samples
}

function hourAt({ columns }: KeptHours, row: number): Hour {
  return Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[row] as number])) as Hour
}

const valuesOfKind: Partial<Record<MetricKind, (hour: Hour) => number[]>> = {
  counter: counterValues,
  rate: rateValues,
  state: stateValues,
}

/**
 * Equal steps from the first to the last value. An hour's resets become one. The largest value shows whether the first
 * or the last one is noise, and noise stays at its place.
 */
function counterValues({ count, first, last, increase, max }: Hour): number[] {
  if (count <= 2) return count === 1 ? [first] : [first, last]
  const isFirstNoise = increase < (max - first) * (1 - rounding)
  const base = isFirstNoise ? max - increase : first
  if (Math.abs(base + increase - max) <= rounding * Math.abs(max)) {
    const head = isFirstNoise ? [first] : []
    const tail = last < max * (1 - rounding) ? [last] : []
    const between = count - head.length - tail.length
    return [...head, ...(between === 1 ? [max] : steps(base, base + increase, between)), ...tail]
  }
  const top = Math.max(first, first + increase - last)
  if (count === 3 && top > first + rounding * Math.abs(max)) return [first, top, last]
  // A fall by half or more to a value above zero is a reset, whatever comes next.
  return [...steps(first, top, count - 2), Math.min(top, last) / 2, last]
}

/** Rounding error of sums of equal differences. */
const rounding = 1e-9

/**
 * Keeps the first value, whose interval may begin in the hour before, and the largest one. The others share the rest of
 * the sum.
 */
function rateValues({ count, mean, first, max }: Hour): number[] {
  if (count === 1) return [first]
  const hasLarger = max > first && count > 2
  const others = hasLarger ? count - 2 : count - 1
  const rest = (mean * count - first - (hasLarger ? max : 0)) / others
  return [first, ...(hasLarger ? [max] : []), ...Array.from({ length: others }, () => rest)]
}

/**
 * Starts of the hours of amounts whose largest value behind the full hour is unknown. There the largest is the full
 * hour's own, which belongs to the hour before, and the other values are more than two and unequal.
 */
function startsWithoutMax(hours: KeptHours): Set<number> {
  return new Set(
    hours.startsMs.filter((startMs, row) => {
      const { count, mean, first, first_ts, min, max } = hourAt(hours, row)
      if (first_ts !== startMs * 1000 || max > first || count <= 2) return false
      // Equal values are each as large as the least of them.
      const rest = (mean * count - first) / (count - 1)
      return rest - min > rounding * Math.max(Math.abs(min), Math.abs(max))
    }),
  )
}

/** A state that changed within an hour is unknown directly after the first value: it may not have held for a step. */
const unknownAfterMs = 1

/** The times of changes between the first and the last state are unknown. */
function stateValues({ count, first, last, min, max }: Hour): number[] {
  if (count === 1) return [first]
  const between = min === max ? first : unknownState
  return [first, ...Array.from({ length: count - 2 }, () => between), last]
}

function steps(from: number, to: number, count: number): number[] {
  return Array.from({ length: count }, (_, place) => (place === 0 ? from : from + ((to - from) * place) / (count - 1)))
}
