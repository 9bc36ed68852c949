/** `excursions`: when a metric was beyond thresholds, each time, by day, and in total; in a range or in the last 7 days. */

import { z } from 'zod'
import { type DayOfExcursions, type Excursion, findExcursions } from '../../analytics/excursions/excursions.ts'
import { presentOf, type Samples } from '../../analytics/present.ts'
import { type LocalDay, localDays } from '../../analytics/time/local-days.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { isMetricName } from '../../store/metrics/metric-name.ts'
import { metrics as columns } from '../../store/tables.ts'
import { customSamples } from '../kinds/custom-samples.ts'
import { units } from '../series.ts'
import { Count, answerContext as contextShape, LocalMinute } from '../shapes/parts.ts'
import type { TaskContext } from '../task-context.ts'
import { type Asked, asOfMs, type CustomHow, defineAnalysis } from './analysis.ts'
import { answerContext } from './answer-text.ts'
import { deviceCadence, earlierTimes, metricCadence } from './device-cadence.ts'
import { checkRange, moment, parameter, wholeNumber } from './parameters.ts'

/** Only the newest ones are listed. */
const excursionsMax = 500

const Seconds = z.number().nonnegative()

const totals = {
  count: Count.meta({ description: 'Excursions that begin in it.' }),
  longest_seconds: Seconds,
  seconds: Seconds.meta({ description: 'Time beyond a threshold, in excursions that count.' }),
  degree_minutes: Seconds.meta({
    description: 'The distance from the threshold over time, in the unit of the metric times minutes.',
  }),
  gap_seconds: Seconds.meta({ description: 'Time without a known value.' }),
  covered_seconds: Seconds,
}

const Episode = z.strictObject({
  direction: z.enum(['above', 'below']),
  start: LocalMinute,
  end: LocalMinute.nullable().meta({ description: 'Null if it continues at the end of the range.' }),
  seconds: Seconds,
  degree_minutes: Seconds,
  extreme: z.number().meta({ description: 'The value farthest from the threshold.' }),
  gap_seconds: Seconds.meta({ description: 'The silence that ended it; 0 when a reading did.' }),
})

const Excursions = z.strictObject({
  device: z.string(),
  ...contextShape,
  metric: z.string(),
  unit: z.string().nullable(),
  above: z.number().nullable(),
  below: z.number().nullable(),
  for_seconds: Count,
  start: LocalMinute,
  end: LocalMinute,
  total: z.strictObject(totals),
  days: z.array(z.strictObject({ date: z.iso.date(), ...totals })),
  episodes: z
    .array(Episode)
    .max(excursionsMax)
    .meta({ description: 'Newest first; the first ones of episodes_total.' }),
  episodes_total: Count,
})
type Excursions = z.infer<typeof Excursions>

/** Default range. */
const usualMs = 7 * 86_400_000

const forSecondsMax = 604_800
const metricInvalid = 'metric must be the name of a metric'

function threshold(name: string) {
  const error = `${name} must be a number`
  return parameter(error)
    .regex(/^-?\d{1,9}(?:\.\d{1,9})?$/, error)
    .transform(Number)
    .optional()
    .meta({ description: 'In the unit of the metric; one of the two thresholds is required' })
}

const ExcursionsParameters = z
  .object({
    metric: parameter(metricInvalid).refine(isMetricName, metricInvalid),
    above: threshold('above'),
    below: threshold('below'),
    for: wholeNumber('for', 1, forSecondsMax)
      .default(0)
      .meta({ description: 'Seconds for which an excursion must last to count' }),
    start: moment('start', 'The first moment; without it and end, the last 7 days'),
    end: moment('end', 'Before this moment'),
  })
  .superRefine(({ above, below, start, end }, context) => {
    if (above === undefined && below === undefined) context.addIssue('above or below is required')
    if (start !== undefined || end !== undefined) checkRange(start, end, context)
  })

interface ExcursionsHow extends CustomHow {
  /** Undefined: the last 7 days. */
  readonly range: { readonly startMs: number; readonly endMs: number } | undefined
  readonly metric: string
  readonly above: number | null
  readonly below: number | null
  readonly forSeconds: number
}

export const excursionsAnalysis = defineAnalysis({
  path: 'excursions',
  title: 'excursions',
  summary: () => 'When a gauge was beyond a threshold, for how long and how far',
  parameters: ExcursionsParameters,
  answer: Excursions.meta({ id: 'Excursions' }),
  always: columns,
  names: ({ metric }) => [metric],
  fault: ([known]) => (known === undefined || known.kind === 'gauge' ? undefined : `${known.name} is not a gauge`),
  how({ metric, above = null, below = null, for: forSeconds, start, end }) {
    const range = start === undefined || end === undefined ? undefined : { startMs: start / 1000, endMs: end / 1000 }
    return { metric, above, below, forSeconds, range }
  },
  pools: ['long'],
  compute: (query: ExcursionsHow & Asked, context) => answerExcursions(query, context),
})

/** Alert previews look back as far: an excursion that began before the range may have lasted long enough. */
const leadMs = 86_400_000

async function answerExcursions(query: ExcursionsHow & Asked, context: TaskContext): Promise<string> {
  const { device, metric, custom: asked, above, below, forSeconds, range, clockMs: nowMs } = query
  const { source, local, signal, rowsMax } = context
  const endMs = asOfMs(range?.endMs, nowMs)
  const startMs = Math.min(range?.startMs ?? endMs - usualMs, endMs)
  const afterUs = (startMs - leadMs - 2000 * forSeconds) * 1000 - 1
  const throughUs = endMs * 1000 - 1
  // Units are read first, because a later read of a station uses them.
  const custom = await context.inUnits(asked, [{ fromUs: afterUs + 1, toUs: throughUs + 1 }])
  const [series, earlierMs] = await Promise.all([
    source.series({ symbol: device.symbol, afterUs, throughUs, rowsMax }, signal),
    earlierTimes(device, afterUs, context),
  ])
  const ofDevice = deviceCadence(device, earlierMs, series.timesMs)
  const [other] = await customSamples(custom, { afterUs, throughUs }, series, context)
  const column = columns.find(name => name === metric)
  const values = other ?? (column === undefined ? nothing : { timesMs: series.timesMs, values: series.values[column] })
  const samples = presentOf(values.timesMs, values.values)
  const { stretches: gaps } = other === undefined ? ofDevice : metricCadence(samples.timesMs, ofDevice)
  const unit = other === undefined ? (column === undefined ? null : units[column]) : other.metric.unit
  const days = daysBetween(local, startMs, endMs)
  const found = findExcursions(samples, { above, below, forMs: forSeconds * 1000, gaps, startMs, endMs, days })
  return JSON.stringify({
    device: device.name,
    ...answerContext(local, nowMs),
    metric,
    unit,
    above,
    below,
    for_seconds: forSeconds,
    start: local.text(startMs * 1000),
    end: local.text(endMs * 1000),
    total: totalsOf(sumOf(found.days, found.episodes)),
    days: days.map(({ date }, at) => ({ date, ...totalsOf(found.days[at] as DayOfExcursions) })),
    episodes: found.episodes
      .slice(-excursionsMax)
      .reverse()
      .map(episode => episodeOf(episode, local)),
    episodes_total: found.episodes.length,
  } satisfies Excursions)
}

const nothing: Samples = { timesMs: new Float64Array(0), values: new Float64Array(0) }

const dayMs = 86_400_000
const minuteMs = 60_000

/** The local days of the range. The first and the last one are cut by it. */
function daysBetween(local: LocalTime, startMs: number, endMs: number): LocalDay[] {
  const count = Math.ceil((endMs - startMs) / dayMs) + 2
  return localDays(local, endMs - 1, count)
    .map(day => ({ ...day, startMs: Math.max(day.startMs, startMs), endMs: Math.min(day.endMs, endMs) }))
    .filter(day => day.startMs < day.endMs)
}

function sumOf(days: readonly DayOfExcursions[], episodes: readonly Excursion[]): DayOfExcursions {
  const sum = (name: keyof DayOfExcursions) => days.reduce((total, day) => total + day[name], 0)
  return {
    count: sum('count'),
    longestMs: episodes.reduce((max, { startMs, endMs }) => Math.max(max, endMs - startMs), 0),
    lengthMs: sum('lengthMs'),
    distanceMs: sum('distanceMs'),
    silenceMs: sum('silenceMs'),
    coveredMs: sum('coveredMs'),
  }
}

function totalsOf({ count, longestMs, lengthMs, distanceMs, silenceMs, coveredMs }: DayOfExcursions) {
  return {
    count,
    longest_seconds: longestMs / 1000,
    seconds: lengthMs / 1000,
    degree_minutes: distanceMs / minuteMs,
    gap_seconds: silenceMs / 1000,
    covered_seconds: coveredMs / 1000,
  }
}

function episodeOf(
  { direction, startMs, endMs, isOngoing, distanceMs, extreme, silenceMs }: Excursion,
  local: LocalTime,
) {
  return {
    direction,
    start: local.text(startMs * 1000),
    end: isOngoing ? null : local.text(endMs * 1000),
    seconds: (endMs - startMs) / 1000,
    degree_minutes: distanceMs / minuteMs,
    extreme,
    gap_seconds: silenceMs / 1000,
  }
}
