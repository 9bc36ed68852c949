/** `detail_data`: every reading of the last 24 hours, or as many as a chart needs, and 30 days by the hour. */

import { z } from 'zod'
import { upperBound } from '../../analytics/lower-bound.ts'
import { checkQuality, flagSuspect } from '../../analytics/quality/quality.ts'
import { type QualityLimits, qualityLimits } from '../../analytics/quality/quality-limits.ts'
import type { Cadence, GapThresholds } from '../../analytics/reliability/cadence.ts'
import { downsample } from '../../analytics/summary/downsample.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { metrics as columns, metrics } from '../../store/tables.ts'
import { type AnalysedDevice, deviceLimits } from '../analysed-device.ts'
import { hoursText, pointsText } from '../answers/point-text.ts'
import type { CustomSamples } from '../custom-metric.ts'
import { customSamples, customSamplesByHour } from '../kinds/custom-samples.ts'
import { type HourlySeries, mapColumns, type Series } from '../series.ts'
import { DeviceDetail } from '../shapes/detail.ts'
import type { TaskContext } from '../task-context.ts'
import { type Asked, type CustomHow, defineAnalysis } from './analysis.ts'
import { answerContext, memberTexts, objectText, type Texts } from './answer-text.ts'
import { customHoursText, type DetailedMetric, describeDetailed } from './detail-custom.ts'
import { deviceCadence, earlierTimes, longestGapMs, metricCadence } from './device-cadence.ts'
import { checkWindow, MetricNames, moment, msOf, wholeNumber, withFlags, withTimes } from './parameters.ts'

/** Limits of the points of a chart: at least both ends and both extremes, at most more than a screen is wide. */
export const detailPointsMin = 4
export const detailPointsMax = 20_000

interface DetailHow extends CustomHow {
  /** The most points for each metric; undefined for all. */
  readonly points: number | undefined
  readonly withTimes: boolean
  readonly withFlags: boolean
}

type DetailQuery = DetailHow & Pick<Asked, 'device' | 'nowMs' | 'hourSources'>

export const detailAnalysis = defineAnalysis({
  path: 'detail_data',
  title: 'detail',
  summary: () => 'The readings of the last 24 hours and the hours of 30 days',
  parameters: z
    .object({
      points: wholeNumber('points', detailPointsMin, detailPointsMax).optional(),
      start: moment('start', 'The first hour; end goes with it'),
      end: moment('end', 'As of this moment; without it, of now'),
      t: withTimes,
      flags: withFlags,
      metrics: MetricNames,
    })
    .superRefine(checkWindow),
  answer: DeviceDetail.meta({ id: 'DeviceDetail' }),
  always: columns,
  how: ({ points, start, end, t, flags }) => {
    return { startMs: msOf(start), endMs: msOf(end), points, withTimes: t, withFlags: flags }
  },
  pools: ['light'],
  compute: (query: DetailHow & Asked, context) => answerDetail(query, context),
})

export async function answerDetail(query: DetailQuery, context: TaskContext): Promise<string> {
  const { device, nowMs, hourSources, custom: _, ...how } = query
  const { source, local, signal, rowsMax } = context
  const { symbol } = device
  const { afterUs, throughUs, fromMs, toMs } = detailWindows(query)
  const [series, hourly, earlierMs, custom] = await Promise.all([
    source.series({ symbol, afterUs, throughUs, rowsMax }, signal),
    source.hourly({ symbol, fromUs: fromMs * 1000, toUs: toMs * 1000, ...hourSources }, signal),
    earlierTimes(device, afterUs, context),
    readCustom(query, context),
  ])
  return buildDetail({ device, series, earlierMs, hourly, custom, nowMs, local, ...how })
}

/** Hours of gauges are read from QuestDB; hours of other kinds are computed from the month's values. */
async function readCustom(query: DetailQuery, context: TaskContext): Promise<DetailedMetric[]> {
  const { hourSources } = query
  const { afterUs, throughUs, fromMs, toMs } = detailWindows(query)
  const { expiredBeforeUs } = hourSources
  const fromUs = fromMs * 1000
  const custom = await context.inUnits(query.custom, [{ fromUs, toUs: throughUs + 1 }])
  const gauges = custom.filter(({ kind }) => kind === 'gauge')
  const others = custom.filter(({ kind }) => kind !== 'gauge')
  const { measurements, signal } = context
  const hours = await measurements.hours(
    { series: gauges.flatMap(({ series }) => series ?? []), fromUs, toUs: toMs * 1000, expiredBeforeUs },
    signal,
  )
  const ofDay = await customSamples(gauges, { afterUs, throughUs }, undefined, context)
  const ofMonth = await customSamplesByHour(others, { fromUs, throughUs, expiredBeforeUs }, context)
  const detailed = new Map<string, DetailedMetric>()
  for (const day of ofDay) detailed.set(day.metric.name, { day, hours: hours.get(day.metric.series ?? Number.NaN) })
  for (const month of ofMonth) detailed.set(month.metric.name, { day: since(month, afterUs / 1000), month })
  return custom.flatMap(({ name }) => detailed.get(name) ?? [])
}

function since(samples: CustomSamples, afterMs: number): CustomSamples {
  const from = upperBound(samples.timesMs, afterMs)
  return {
    ...samples,
    timesMs: samples.timesMs.subarray(from),
    values: samples.values.subarray(from),
    speeds: samples.speeds?.subarray(from),
  }
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

export interface DetailInput {
  readonly device: Pick<
    AnalysedDevice,
    'name' | 'expected_interval_seconds' | 'altitude_m' | 'quality_limits' | 'profile'
  >
  /** The readings in the range of `detailWindows`. */
  readonly series: Series
  /** Times of earlier readings, from `earlierTimes`. */
  readonly earlierMs: Float64Array
  readonly hourly: HourlySeries
  /** Metrics are in the answer's order. */
  readonly custom: readonly DetailedMetric[]
  readonly nowMs: number
  /** Start of the hours, and end of hours and readings; by default the last 30 days up to now. */
  readonly startMs?: number | undefined
  readonly endMs?: number | undefined
  readonly local: LocalTime
  /** The most points for each metric; undefined for all. */
  readonly points: number | undefined
  readonly withTimes: boolean
  /** Suspect readings are marked. */
  readonly withFlags: boolean
}

/**
 * Both windows end at the full minute: readings in (afterUs, throughUs], hours in [fromMs, toMs). The hours begin with
 * the hour of `startMs`, or 30 days earlier, and include the running hour unless an end is requested.
 */
export function detailWindows({ nowMs, startMs, endMs }: Pick<DetailInput, 'nowMs' | 'startMs' | 'endMs'>) {
  const isEnded = nowMs === endMs
  const throughMs = Math.floor(nowMs / minuteMs) * minuteMs
  const throughUs = isEnded ? nowMs * 1000 - 1 : throughMs * 1000
  const toMs = isEnded ? Math.floor(nowMs / hourMs) * hourMs : Math.ceil((throughMs + 1) / hourMs) * hourMs
  const fromMs = startMs === undefined ? toMs - 30 * 24 * hourMs : Math.floor(startMs / hourMs) * hourMs
  return { afterUs: throughUs - 24 * hourMs * 1000, throughUs, throughMs, fromMs, toMs }
}

export function buildDetail(input: DetailInput): string {
  const { device, series, earlierMs, hourly, custom, nowMs, local } = input
  const cadence = deviceCadence(device, earlierMs, series.timesMs)
  const cadences = custom.map(({ day, month }) => metricCadence((month ?? day).timesMs, cadence))
  const { afterUs, throughMs, fromMs, toMs } = detailWindows(input)
  const afterMs = afterUs / 1000
  const month = { startMs: fromMs, endMs: toMs }
  const customHours = (metric: DetailedMetric) =>
    customHoursText(metric, month, input, { cadence, nowMs: throughMs, local })
  const lines = dayLines(input, cadence, cadences)
  const paces = custom.map(({ day }, place) => ({
    cadence: cadences[place],
    stepMaxMs: lines.stepsMaxMs.get(day.metric.name) ?? 0,
  }))
  return objectText({
    ...memberTexts({ device: device.name, ...answerContext(local, nowMs) }),
    last_24h: rawText(lines, longestGapMs(cadence.stretches, afterMs)),
    last_30d_hourly: objectText({
      ...mapColumns(metrics, metric => hoursText(input, hourly.startsMs, hourly.metrics[metric])),
      ...Object.fromEntries(custom.map(metric => [metric.day.metric.name, customHours(metric)])),
    }),
    ...(custom.length === 0 ? {} : memberTexts({ metrics: describeDetailed(custom, paces, afterMs) })),
  } satisfies Partial<Texts<DeviceDetail>>)
}

function dayLines(input: DetailInput, { stretches }: Cadence, cadences: readonly Cadence[]): LineTexts {
  const { device, series, custom } = input
  const lines = new LineTexts(input)
  for (const metric of metrics) {
    const limits = deviceLimits(device, metric)
    lines.add({ name: metric, timesMs: series.timesMs, values: series.values[metric], limits, gaps: stretches })
  }
  for (const [place, { day }] of custom.entries()) {
    const { name, quality } = day.metric
    const limits = qualityLimits(name, null, quality ?? undefined)
    lines.add({ name, timesMs: day.timesMs, values: day.values, limits, gaps: cadences[place]?.stretches ?? [] })
  }
  return lines
}

function rawText({ texts, stepsMaxMs, downsampled }: LineTexts, gapMs: number | null): string {
  const gap_seconds = gapMs === null ? null : Math.max(gapMs, ...stepsMaxMs.values()) / 1000
  return objectText({ ...texts, ...memberTexts({ gap_seconds, downsampled }) })
}

interface Line {
  readonly name: string
  readonly timesMs: Float64Array
  readonly values: Float64Array
  readonly limits: QualityLimits
  readonly gaps: GapThresholds
}

class LineTexts {
  readonly texts: Record<string, string> = {}
  /** The longest time between two kept readings of one stretch, for each metric; 0 where all are kept. */
  readonly stepsMaxMs = new Map<string, number>()
  downsampled = false
  readonly #input: DetailInput

  constructor(input: DetailInput) {
    this.#input = input
  }

  add(line: Line): void {
    const { points, withFlags } = this.#input
    const { name, timesMs, values } = line
    const flagged = points === undefined && !withFlags ? undefined : suspects(line)
    const kept = points === undefined ? undefined : keep(line, points, flagged)
    const marks = withFlags && flagged !== undefined ? { rows: flagged, flag: flagSuspect } : undefined
    this.texts[name] = pointsText(this.#input, timesMs, values, { places: kept?.places, marks })
    this.stepsMaxMs.set(name, kept?.stepMaxMs ?? 0)
    this.downsampled ||= kept?.downsampled ?? false
  }
}

interface Kept {
  readonly places: Uint32Array
  readonly stepMaxMs: number
  readonly downsampled: boolean
}

/** One entry for each reading; 1 for a suspect one. */
function suspects({ timesMs, values, limits, gaps }: Line): Uint8Array {
  const { flags } = checkQuality(timesMs, values, limits, gaps)
  return flags.map(flag => (flag === flagSuspect ? 1 : 0))
}

/** Suspect readings are kept: a chart without them would hide the fault. */
function keep({ timesMs, values, gaps }: Line, points: number, flagged: Uint8Array | undefined): Kept {
  const { indices, stepMaxMs } = downsample({ timesMs, values, points, gaps, ...(flagged && { flagged }) })
  const present = values.reduce((count, value) => (Number.isNaN(value) ? count : count + 1), 0)
  return { places: indices, stepMaxMs, downsampled: indices.length < present }
}
