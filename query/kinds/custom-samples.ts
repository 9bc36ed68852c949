/** The values of a device's custom metrics, as each kind needs them, fetched in a worker. */

import { lowerBound, upperBound } from '../../analytics/lower-bound.ts'
import { presentOf, type Samples } from '../../analytics/present.ts'
import type { CustomMetric, ValuesPlace } from '../custom-metric.ts'
import type { KeptHours } from '../questdb/measurements-source.ts'
import type { Series } from '../series.ts'
import type { TaskContext } from '../task-context.ts'
import { expiredSamples, startsWithoutMax } from './expired-samples.ts'
import { alignedTo, type CustomSamples, counterSamplesAround, type ExpiredHours } from './metric-samples.ts'
import { stateHoldMaxMs } from './state-hold.ts'

export interface SamplesRange {
  /** Not included. */
  readonly afterUs: number
  /** Included. */
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
