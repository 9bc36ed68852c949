/** The autocorrelation of each metric. */

import { autocorrelation } from '../../analytics/correlation/autocorrelation.ts'
import {
  autocorrelationBands,
  autocorrelationLagMax,
  autocorrelationPeak,
  decorrelationLag,
  peakOfCycle,
  repeatOfCycles,
  shownLags,
} from '../../analytics/correlation/autocorrelation-bands.ts'
import type { SeriesTransform } from '../../analytics/correlation/block-spectra.ts'
import { orNull } from '../../analytics/present.ts'
import { reasons } from '../../analytics/reasons.ts'
import { harmonicOfDay } from '../../analytics/spectrum/harmonics.ts'
import type { Moments } from '../../analytics/summary/moments.ts'
import { verdictOf } from '../analyses/answer-text.ts'
import { byMetric, dayMs, type StatsWindow, type Transforms } from './window.ts'

/** The number in the texts of reasons. */
const cellsMin = 30
const secondsPerHour = 3600

/** The result of `seasonality` for a metric. */
interface Cycles {
  readonly peaks: readonly { readonly period_hours: number; readonly cycles: number; readonly significant: boolean }[]
}

export function autocorrelationPart(
  window: StatsWindow,
  transforms: Transforms,
  seasonality: Readonly<Record<string, Cycles>>,
) {
  const { stepMs, cells } = window.fine.frame
  const days = (cells * stepMs) / dayMs
  return byMetric(window, ({ name, cells, cellMoments }) => {
    const periods = periodsOf(seasonality[name]?.peaks ?? [], days)
    return partOf(cells, cellMoments, stepMs / 1000, transforms.get(name), periods)
  })
}

/**
 * Hours of the significant periods. A period that the resolution cannot separate from a day or its fraction becomes
 * that.
 */
function periodsOf(peaks: Cycles['peaks'], days: number): number[] {
  return peaks
    .filter(({ significant }) => significant)
    .map(({ period_hours, cycles }) => {
      const perDay = harmonicOfDay(cycles, days)
      return perDay === null ? period_hours : 24 / perDay
    })
}

function partOf(
  cells: Float64Array,
  moments: Moments,
  stepSeconds: number,
  transform: SeriesTransform | undefined,
  periodsHours: readonly number[],
) {
  const n = cells.length
  const n_observed = moments.count
  const verdict = verdictOf(
    moments,
    n_observed < cellsMin ? { reason: reasons.fewCells, needed: cellsMin, found: n_observed } : null,
  )
  const lagMax = autocorrelationLagMax(n, stepSeconds)
  const result = verdict.status === 'ok' ? autocorrelation(cells, lagMax, transform) : undefined
  const counts = { ...verdict, n, n_observed }
  if (result === undefined) return { ...counts, ...nothing }
  const { bartlett, white } = autocorrelationBands(result)
  const lags = shownLags(lagMax, stepSeconds)
  const hours = (lag: number) => (lag * stepSeconds) / secondsPerHour
  const shown = (values: Float64Array) => lags.map(lag => orNull(values[lag] as number))
  const decorrelation = decorrelationLag(result.r)
  const highest = autocorrelationPeak(result.r, bartlett)
  const periods = periodsHours.map(period => (period * secondsPerHour) / stepSeconds)
  const peak = repeatOfCycles(result.r, periods) ?? (highest && peakOfCycle(highest, result.r, periods))
  return {
    ...counts,
    max_lag_hours: hours(lagMax),
    lags_hours: lags.map(hours),
    acf: shown(result.r),
    band95: shown(bartlett),
    band95_white: shown(white),
    n_pairs: shown(result.pairs),
    decorrelation_hours: decorrelation === null ? null : hours(decorrelation),
    peak: peak === null ? null : { lag_hours: hours(peak.lag), r: peak.r },
  }
}

const nothing = {
  max_lag_hours: null,
  lags_hours: null,
  acf: null,
  band95: null,
  band95_white: null,
  n_pairs: null,
  decorrelation_hours: null,
  peak: null,
}
