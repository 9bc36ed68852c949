/** All statistics of one device: the answer to `stats_data`. */

import { releaseTransforms } from '../../analytics/correlation/block-spectra.ts'
import type { RejectedReadings } from '../../analytics/findings/from-quality.ts'
import { recordReliability } from '../../analytics/reliability/reliability-record.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { answerContext } from '../analyses/answer-text.ts'
import { alignedTo, type CustomSamples, descriptionsOf } from '../custom-metric.ts'
import { windowFigures } from '../kinds/bucket-figures.ts'
import { type Series, units } from '../series.ts'
import type { MetricKind, WindowFigures } from '../shapes/kinds.ts'
import type { Stats } from '../shapes/stats.ts'
import { aggregatesPart, derivedPart } from './aggregates.ts'
import { autocorrelationPart } from './autocorrelation.ts'
import { correlationsPart } from './correlations.ts'
import { findingsOf, qualityOf, type WindowQuality } from './findings.ts'
import { jsonMembers, lastSeenOf, type StatsLive, textOf } from './live.ts'
import { seasonalityPart } from './seasonality.ts'
import { dayMs, type StatsWindow, transformsOf, windowOf } from './window.ts'

const unitsOfAll = {
  ...units,
  dew_point: '°C',
  absolute_humidity: 'g/m³',
  sea_level_pressure: 'hPa',
  pressure_tendency: 'hPa',
}

/** Cadence and reliability always look back this far. */
const daysMin = 30
/** The first of thirty local days may begin this much earlier when the clocks change. */
const clockChangeMs = 3_600_000

export interface StatsInput {
  readonly device: AnalysedDevice
  readonly nowMs: number
  readonly local: LocalTime
  readonly days: number
  /** Start of the window; by default some days before the last reading. */
  readonly startMs?: number | undefined
  /** The grid's step; by default from the cadence. */
  readonly stepSeconds: number | undefined
  /** Every reading after `statsAfterMs`. */
  readonly series: Series
  /** Samples of the same range, in the answer's order; counters and states include the value before it. */
  readonly custom: readonly CustomSamples[]
  /** The newest reading at or before the start of the series; undefined when there is none. */
  readonly predecessorMs: number | undefined
  readonly rejected?: RejectedReadings | undefined
}

/** The JSON text is head + `liveText(live, …)` + tail. */
export interface StatsAnswer {
  readonly head: string
  readonly live: StatsLive
  readonly tail: string
}

/** Readings after this time are required, up to the last one at `lastMs`. */
export function statsAfterMs(lastMs: number, nowMs: number, days: number): number {
  return Math.min(lastMs, nowMs - clockChangeMs) - Math.max(days, daysMin) * dayMs
}

export function buildStats(input: StatsInput): StatsAnswer {
  const { device, nowMs, local, days, startMs, stepSeconds, series, custom, predecessorMs } = input
  const expectedIntervalSeconds = device.expected_interval_seconds
  const gauges = alignedOf(input, 'gauge')
  const asked = { days, fromMs: startMs, stepSeconds }
  const window = windowOf({ series, gauges, predecessorMs, ...asked, expectedIntervalSeconds, local })
  const { cadence } = window
  const { timesMs } = series
  const metrics = { ...series.values, ...gauges, ...alignedOf(input, 'counter', 'direction', 'rate') }
  const quality = qualityOf(
    window,
    device,
    custom.map(({ metric }) => metric),
  )
  const seen = lastSeenOf(series, custom, cadence, device.log_switch)
  const reliability = recordReliability({ timesMs, beforeMs: predecessorMs ?? null, metrics, nowMs, cadence, local })
  const live = {
    timeZone: local.timeZone,
    findings: findingsOf({
      series,
      custom,
      seen,
      reliability,
      quality,
      window,
      device,
      rejected: input.rejected,
      nowMs,
      local,
    }),
    freshness: seen,
    reliability,
  }
  const answer = {
    head: `{${jsonMembers(headOf(input, window))},`,
    live,
    tail: `,${jsonMembers(tailOf(input, window, quality.counts))}}`,
  }
  detachBuffers([window.values.dew_point, ...Object.values(window.fine.means)])
  return answer
}

/** States are excluded: they may be sent only on change, so missing ones cannot be detected. */
function alignedOf({ series, custom }: StatsInput, ...kinds: readonly MetricKind[]): Record<string, Float64Array> {
  const some = custom.filter(({ metric }) => kinds.includes(metric.kind))
  return Object.fromEntries(some.map(samples => [samples.metric.name, alignedTo(series.timesMs, samples)]))
}

type StatsHead = Pick<
  Stats,
  'device' | 'time_zone' | 'generated_at' | 'window' | 'grid_seconds' | 'n_samples' | 'units' | 'profile'
>
type StatsTail = Omit<Stats, keyof StatsHead | 'findings' | 'freshness' | 'reliability'>

function headOf({ device, custom, nowMs, local }: StatsInput, window: StatsWindow): StatsHead {
  const { startMs, lastMs, days, truncated, timesMs, fine } = window
  return {
    device: device.name,
    ...answerContext(local, nowMs),
    window: { start: textOf(startMs, local), end: textOf(lastMs, local), days, truncated },
    grid_seconds: lastMs === null ? null : fine.frame.stepMs / 1000,
    n_samples: timesMs.length,
    units: { ...unitsOfAll, ...Object.fromEntries(custom.map(({ metric }) => [metric.name, metric.unit])) },
    ...(device.profile === 'none' ? {} : { profile: device.profile }),
  }
}

function tailOf({ device, custom }: StatsInput, window: StatsWindow, quality: WindowQuality['counts']): StatsTail {
  const metrics = custom.map(({ metric }) => metric)
  const quanta: Readonly<Record<string, { readonly quantum: number | null }>> = quality
  const seasonality = seasonalityPart(window, name => quanta[name]?.quantum ?? null)
  const transforms = transformsOf(window)
  const correlations = correlationsPart(window, transforms)
  const autocorrelation = autocorrelationPart(window, transforms, seasonality)
  releaseTransforms([...transforms.values()])
  return {
    correlations,
    autocorrelation,
    seasonality,
    aggregates: { ...aggregatesPart(window), ...kindsPart(window, custom) },
    derived: derivedPart(window, device.altitude_m),
    quality,
    ...(metrics.length === 0 ? {} : { metrics: descriptionsOf(metrics) }),
  }
}

/** Figures of all kinds except gauges. Before its first reading a device has no state. */
function kindsPart(window: StatsWindow, custom: readonly CustomSamples[]): Record<string, WindowFigures> {
  const { startMs, lastMs, timesMs, truncated, cadence, local } = window
  const others = custom.filter(({ metric }) => metric.kind !== 'gauge')
  const endMs = lastMs ?? 0
  const bucket = { startMs: startMs ?? endMs, endMs }
  const ofStates = { startMs: (truncated ? timesMs[0] : startMs) ?? endMs, endMs }
  const context = { cadence, nowMs: endMs, local }
  return Object.fromEntries(
    others.map(samples => {
      const { name, kind } = samples.metric
      return [name, windowFigures(samples, kind === 'state' ? ofStates : bucket, context)]
    }),
  )
}
