/** Two devices side by side, hour by hour: their series, their difference and their agreement. */

import { agreementOf } from '../../analytics/correlation/agreement.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import type { AskedWindow } from '../asked-window.ts'
import { descriptionsOf } from '../custom-metric.ts'
import { type ComparedSamples, comparedText } from '../kinds/compared-metric.ts'
import { mapColumns } from '../map-columns.ts'
import type { HourlySeries } from '../series.ts'
import type { Comparison } from '../shapes/compare.ts'
import { answerContext, memberTexts, objectText, type Texts } from './answer-text.ts'
import { type PointStyle, pointsText } from './point-text.ts'
import { type AirMetric, airMetrics, units } from './units.ts'

const hourMs = 3_600_000

export type ComparePreset = NonNullable<Comparison['preset']>

const hoursOfPreset: Record<ComparePreset, number> = {
  '24h': 24,
  '3d': 72,
  '7d': 168,
  '30d': 720,
  '90d': 2160,
  '365d': 8760,
}

const presetOfAlias: Record<string, ComparePreset> = { '1d': '24h', '1w': '7d', '1m': '30d', '1y': '365d' }

/** An alias is accepted, and the answer names the preset that it stands for. */
export const comparePresets: readonly string[] = [...Object.keys(hoursOfPreset), ...Object.keys(presetOfAlias)]

/** Undefined for a text that is neither a preset nor an alias. */
export function comparePreset(text: string): ComparePreset | undefined {
  const name = presetOfAlias[text] ?? text
  return Object.hasOwn(hoursOfPreset, name) ? (name as ComparePreset) : undefined
}

/** Whole hours of UTC, `[startMs, endMs)`. */
export interface CompareWindow {
  readonly startMs: number
  readonly endMs: number
}

/**
 * Ends at the last full hour before the later last reading of the two, or before now when neither has any, or as
 * requested.
 */
export function compareWindow(
  { preset, startMs, endMs: askedMs }: Pick<AskedWindow, 'startMs' | 'endMs'> & { preset: ComparePreset },
  lastReadingsMs: readonly (number | undefined)[],
  nowMs: number,
): CompareWindow {
  if (startMs !== undefined && askedMs !== undefined) {
    return { startMs: fullHour(startMs), endMs: fullHour(Math.min(askedMs, Math.max(startMs, nowMs))) }
  }
  const known = lastReadingsMs.filter(lastMs => lastMs !== undefined)
  const lastMs = known.length === 0 ? nowMs : Math.max(...known)
  const endMs = fullHour(lastMs)
  return { startMs: endMs - hoursOfPreset[preset] * hourMs, endMs }
}

function fullHour(timeMs: number): number {
  return Math.floor(timeMs / hourMs) * hourMs
}

interface ComparedDevice {
  readonly device: Pick<AnalysedDevice, 'name' | 'location_short'>
  /** Hours outside the window are left out. */
  readonly hourly: HourlySeries
}

export interface CompareInput extends CompareWindow {
  readonly a: ComparedDevice
  readonly b: ComparedDevice
  /** In the answer's order. */
  readonly custom: readonly { readonly a: ComparedSamples; readonly b: ComparedSamples }[]
  /** Null for a window with a requested start. */
  readonly preset: ComparePreset | null
  readonly nowMs: number
  readonly local: LocalTime
  readonly withTimes: boolean
}

export function buildCompare(input: CompareInput): string {
  const { a, b, custom, preset, startMs, endMs, nowMs, local } = input
  const hours = Float64Array.from({ length: (endMs - startMs) / hourMs }, (_, hour) => startMs + hour * hourMs)
  return objectText({
    ...memberTexts({
      a: { device: a.device.name, location_short: a.device.location_short },
      b: { device: b.device.name, location_short: b.device.location_short },
      ...answerContext(local, nowMs),
      preset,
      start: local.text(startMs * 1000),
      end: local.text(endMs * 1000),
      step_seconds: hourMs / 1000,
    } satisfies Omit<Comparison, AirMetric | 'metrics'>),
    ...mapColumns(airMetrics, metric => metricText(input, metric, hours)),
    ...Object.fromEntries(
      custom.map(one => [one.a.samples.metric.name, comparedText(one.a, one.b, { startMs, endMs }, input)]),
    ),
    ...(custom.length === 0 ? {} : memberTexts({ metrics: descriptionsOf(custom.map(one => one.a.samples.metric)) })),
  })
}

function metricText({ a, b, startMs, local, withTimes }: CompareInput, metric: AirMetric, hours: Float64Array): string {
  const style: PointStyle = { local, withTimes }
  const aMeans = meansOf(a.hourly, metric, hours)
  const bMeans = meansOf(b.hourly, metric, hours)
  const agreement = agreementOf(aMeans, bMeans, { startMs, stepMs: hourMs }, local)
  const differences = aMeans.map((mean, hour) => mean - (bMeans[hour] as number))
  return objectText({
    unit: JSON.stringify(units[metric]),
    a: pointsText(style, hours, aMeans),
    b: pointsText(style, hours, bMeans),
    diff: pointsText(style, hours, differences),
    stats: JSON.stringify(agreement satisfies Comparison[AirMetric]['stats']),
  } satisfies Texts<Comparison[AirMetric]>)
}

/** One mean for each hour of the window, NaN where there is none. */
function meansOf(hourly: HourlySeries, metric: AirMetric, hours: Float64Array): Float64Array {
  const means = new Float64Array(hours.length).fill(Number.NaN)
  const firstMs = hours[0] ?? 0
  const { mean } = hourly.metrics[metric]
  for (let row = 0; row < mean.length; row++) {
    // Writes outside the array have no effect.
    means[((hourly.startsMs[row] as number) - firstMs) / hourMs] = mean[row] as number
  }
  return means
}
