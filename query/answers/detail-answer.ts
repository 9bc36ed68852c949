/** One device closely: every reading of the last 24 hours, or as many as a picture needs, and 30 days by the hour. */

import { checkQuality, flagSuspect } from '../../analytics/quality/quality.ts'
import type { GapThresholds } from '../../analytics/reliability/cadence.ts'
import { downsample } from '../../analytics/summary/downsample.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { type Metric, metrics } from '../../store/tables.ts'
import { type AnalysedDevice, deviceLimits } from '../analysed-device.ts'
import { mapColumns } from '../map-columns.ts'
import type { HourlySeries, Series } from '../series.ts'
import type { DeviceDetail } from '../shapes/detail.ts'
import { answerContext, memberTexts, objectText, type Texts } from './answer-text.ts'
import { deviceCadence } from './device-cadence.ts'
import { type PointStyle, pointEnd, pointStart, pointsText } from './point-text.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** How few and how many points a picture may ask for: the ends and the extremes; more than any screen is wide. */
export const detailPointsMin = 4
export const detailPointsMax = 20_000

export interface DetailInput {
  readonly device: Pick<AnalysedDevice, 'name' | 'expected_interval_seconds' | 'altitude_m' | 'quality_limits'>
  /** As `detailWindows` has it. */
  readonly series: Series
  /** Times of readings before those, as `earlierTimes` gives them. */
  readonly earlierMs: Float64Array
  readonly hourly: HourlySeries
  readonly nowMs: number
  readonly local: LocalTime
  /** At most so many for each metric; undefined: all. */
  readonly points: number | undefined
  readonly withTimes: boolean
  /** Whether suspect readings are told from good ones. */
  readonly withFlags: boolean
}

/** Both end at the full minute: readings in (afterMs, throughMs], hours in [fromMs, toMs), the running one among them. */
export function detailWindows(nowMs: number) {
  const throughMs = Math.floor(nowMs / minuteMs) * minuteMs
  const toMs = Math.ceil((throughMs + 1) / hourMs) * hourMs
  return { afterMs: throughMs - 24 * hourMs, throughMs, fromMs: toMs - 30 * 24 * hourMs, toMs }
}

/** The answer as JSON text. */
export function buildDetail(input: DetailInput): string {
  const { device, hourly, nowMs, local } = input
  return objectText({
    ...memberTexts({ device: device.name, ...answerContext(local, nowMs) }),
    last_24h: rawText(input),
    last_30d_hourly: objectText(mapColumns(metrics, metric => hoursText(input, hourly, metric))),
  } satisfies Partial<Texts<DeviceDetail>>)
}

function rawText(input: DetailInput): string {
  const { device, series, earlierMs, points, withFlags } = input
  const { stretches } = deviceCadence(device, earlierMs, series.timesMs)
  const texts: Record<string, string> = {}
  let stepMaxMs = 0
  let downsampled = false
  for (const metric of metrics) {
    const values = series.values[metric]
    const flagged = points === undefined && !withFlags ? undefined : suspects(input, metric, stretches)
    const kept = points === undefined ? undefined : keep(series.timesMs, values, points, stretches, flagged)
    const marks = withFlags && flagged !== undefined ? { rows: flagged, flag: flagSuspect } : undefined
    texts[metric] = pointsText(input, series.timesMs, values, { places: kept?.places, marks })
    stepMaxMs = Math.max(stepMaxMs, kept?.stepMaxMs ?? 0)
    downsampled ||= kept?.downsampled ?? false
  }
  const { afterMs } = detailWindows(input.nowMs)
  const gapMs = longestThreshold(stretches, afterMs)
  const gap_seconds = gapMs === null ? null : Math.max(gapMs, stepMaxMs) / 1000
  return objectText({ ...texts, ...memberTexts({ gap_seconds, downsampled }) })
}

interface Kept {
  readonly places: Uint32Array
  readonly stepMaxMs: number
  readonly downsampled: boolean
}

/** Of those since a moment: a line that is broken beyond it is whole where the device reported at its pace of then. */
function longestThreshold(stretches: GapThresholds, sinceMs: number): number | null {
  const since = stretches.filter((_, place) => (stretches[place + 1]?.fromMs ?? Number.POSITIVE_INFINITY) > sinceMs)
  return since.length === 0 ? null : Math.max(...since.map(({ gapMs }) => gapMs))
}

/** By reading, 1 for a suspect one. */
function suspects({ device, series }: DetailInput, metric: Metric, gaps: GapThresholds): Uint8Array {
  const { flags } = checkQuality(series.timesMs, series.values[metric], deviceLimits(device, metric), gaps)
  return flags.map(flag => (flag === flagSuspect ? 1 : 0))
}

/** Suspect readings stay: a picture without them would hide what is wrong. */
function keep(
  timesMs: Float64Array,
  values: Float64Array,
  points: number,
  gaps: GapThresholds,
  flagged: Uint8Array | undefined,
): Kept {
  const { indices, stepMaxMs } = downsample({ timesMs, values, points, gaps, ...(flagged && { flagged }) })
  const present = values.reduce((count, value) => (Number.isNaN(value) ? count : count + 1), 0)
  return { places: indices, stepMaxMs, downsampled: indices.length < present }
}

function hoursText(style: PointStyle, { startsMs, metrics: columns }: HourlySeries, metric: Metric): string {
  const { mean, min, max, count } = columns[metric]
  const points: string[] = []
  for (let row = 0; row < count.length; row++) {
    if (count[row] === 0) continue
    const startMs = startsMs[row] as number
    const aggregates = `"mean":${mean[row]},"min":${min[row]},"max":${max[row]},"count":${count[row]}`
    points.push(pointStart(style, startMs) + aggregates + pointEnd(style, startMs))
  }
  return `[${points.join(',')}]`
}
