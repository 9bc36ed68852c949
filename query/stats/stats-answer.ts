/** Everything that can be said of one device: the answer to `stats_data`. */

import { releaseTransforms } from '../../analytics/correlation/block-spectra.ts'
import { detachBuffers } from '../../analytics/detach-buffers.ts'
import { recordReliability } from '../../analytics/reliability/reliability-record.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { AnalysedDevice } from '../analysed-device.ts'
import { answerContext } from '../answers/answer-text.ts'
import { units } from '../answers/units.ts'
import type { Series } from '../series.ts'
import type { Stats } from '../shapes/stats.ts'
import { aggregatesPart } from './aggregates.ts'
import { autocorrelationPart } from './autocorrelation.ts'
import { correlationsPart } from './correlations.ts'
import { derivedPart } from './derived.ts'
import { lastSeenOf, textOf } from './freshness.ts'
import { jsonMembers } from './json-text.ts'
import type { StatsLive } from './live.ts'
import { qualityPart } from './quality.ts'
import { seasonalityPart } from './seasonality.ts'
import { transformsOf } from './transforms.ts'
import { dayMs, type StatsWindow, windowOf } from './window.ts'

const unitsOfAll = {
  ...units,
  dew_point: '°C',
  absolute_humidity: 'g/m³',
  sea_level_pressure: 'hPa',
  pressure_tendency: 'hPa',
}

/** Cadence and reliability look back so far, whatever is asked. */
const daysMin = 30
/** The first of thirty local days may begin so much earlier when the clocks change. */
const clockChangeMs = 3_600_000

export interface StatsInput {
  readonly device: AnalysedDevice
  readonly nowMs: number
  readonly local: LocalTime
  readonly days: number
  /** The grid's step; undefined: by the cadence. */
  readonly stepSeconds: number | undefined
  /** Every reading after `statsAfterMs`. */
  readonly series: Series
  /** The newest reading at or before the start of the series; undefined when there is none. */
  readonly predecessorMs: number | undefined
}

/** The JSON text is head + `liveText(live, …)` + tail. */
export interface StatsAnswer {
  readonly head: string
  readonly live: StatsLive
  readonly tail: string
}

/** Readings later than this are needed, up to the last one, which is at `lastMs`. */
export function statsAfterMs(lastMs: number, nowMs: number, days: number): number {
  return Math.min(lastMs, nowMs - clockChangeMs) - Math.max(days, daysMin) * dayMs
}

export function buildStats(input: StatsInput): StatsAnswer {
  const { device, nowMs, local, days, stepSeconds, series, predecessorMs } = input
  const expectedIntervalSeconds = device.expected_interval_seconds
  const window = windowOf({ series, predecessorMs, days, stepSeconds, expectedIntervalSeconds, local })
  const { cadence } = window
  const { timesMs, values: metrics } = series
  const live = {
    freshness: lastSeenOf(series, cadence, device.log_switch),
    reliability: recordReliability({ timesMs, beforeMs: predecessorMs ?? null, metrics, nowMs, cadence, local }),
  }
  const answer = {
    head: `{${jsonMembers(headOf(input, window))},`,
    live,
    tail: `,${jsonMembers(tailOf(device, window))}}`,
  }
  detachBuffers([window.values.dew_point, ...Object.values(window.fine.means)])
  return answer
}

type StatsHead = Pick<
  Stats,
  'device' | 'time_zone' | 'generated_at' | 'window' | 'grid_seconds' | 'n_samples' | 'units'
>
type StatsTail = Omit<Stats, keyof StatsHead | 'freshness' | 'reliability'>

function headOf({ device, nowMs, local }: StatsInput, window: StatsWindow): StatsHead {
  const { startMs, lastMs, days, truncated, timesMs, fine } = window
  return {
    device: device.name,
    ...answerContext(local, nowMs),
    window: { start: textOf(startMs, local), end: textOf(lastMs, local), days, truncated },
    grid_seconds: lastMs === null ? null : fine.frame.stepMs / 1000,
    n_samples: timesMs.length,
    units: unitsOfAll,
  }
}

function tailOf(device: AnalysedDevice, window: StatsWindow): StatsTail {
  const transforms = transformsOf(window)
  const correlations = correlationsPart(window, transforms)
  const autocorrelation = autocorrelationPart(window, transforms)
  releaseTransforms(Object.values(transforms))
  const quality = qualityPart(window, device)
  return {
    correlations,
    autocorrelation,
    seasonality: seasonalityPart(window, metric => quality[metric].quantum),
    aggregates: aggregatesPart(window),
    derived: derivedPart(window, device.altitude_m),
    quality,
  }
}
