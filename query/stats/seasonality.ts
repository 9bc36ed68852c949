/** The cycles of each metric, their strengths, and the profiles of a day and a week. */

import { detrend } from '../../analytics/decomposition/detrend.ts'
import { dailyProfile, extremeHours, weeklyProfile } from '../../analytics/decomposition/profiles.ts'
import { noStrength, strengthLabel, strengthOf } from '../../analytics/decomposition/strength.ts'
import { type TrendInput, trendOf } from '../../analytics/decomposition/trend.ts'
import { orNull } from '../../analytics/present.ts'
import { hampelClean } from '../../analytics/quality/hampel.ts'
import { reasons } from '../../analytics/reasons.ts'
import { dayTest } from '../../analytics/spectrum/day-test.ts'
import { distanceMax, harmonicOfDay } from '../../analytics/spectrum/harmonics.ts'
import { gridSampling, type Sampling } from '../../analytics/spectrum/lomb-scargle.ts'
import { createPeakSearch, type PeakSearch, withDay } from '../../analytics/spectrum/seasonal-peaks.ts'
import { sensorSteps } from '../../analytics/spectrum/significance.ts'
import { bridgeShortGaps } from '../../analytics/time/fill-gaps.ts'
import { binMeans, type GridFrame } from '../../analytics/time/grid.ts'
import { hoursOfDay } from '../../analytics/time/local-days.ts'
import { cyclesPart } from './cycles.ts'
import { type Lacking, verdictOf } from './verdict.ts'
import { byMetric, cellMiddles, dayMs, type StatsColumn, type StatsWindow } from './window.ts'

const hourMs = 3_600_000
/** The numbers in the texts of reasons. */
const spanDaysMin = 3
const coverageMin = 0.5
/** With a longer interval, a day has too few readings. */
const slowMs = 3 * hourMs

interface Search {
  readonly cells: number
  readonly stepMs: number
  /** Reused for the cells of each metric. */
  readonly clean: Float64Array
  readonly sampling: Sampling
  readonly peaksOf: PeakSearch
}

/** Shared by all metrics, and mostly by the next device too, because its tables depend on the grid alone. */
let lastSearch: Search | undefined

function searchOf({ cells, stepMs }: GridFrame): Search {
  if (lastSearch?.cells !== cells || lastSearch.stepMs !== stepMs) {
    lastSearch = {
      cells,
      stepMs,
      clean: new Float64Array(cells),
      sampling: gridSampling(cells),
      peaksOf: createPeakSearch(cells, dayMs / stepMs),
    }
  }
  return lastSearch
}

/** `quantumOf` returns the resolution of a metric's sensor, null while unknown. */
export function seasonalityPart(window: StatsWindow, quantumOf: (name: string) => number | null) {
  const { frame } = window.fine
  const dayHours = hoursOfDay(window.weekHours)
  const middles = cellMiddles(frame)
  const spanMs = frame.cells * frame.stepMs
  return byMetric(window, column => {
    const moments = column.cellMoments
    const verdict = verdictOf(moments, lackOf(moments.count, frame))
    const profile = dailyProfile(column.values, dayHours)
    const isOk = verdict.status === 'ok'
    const isThere = verdict.status !== 'no_data'
    const { peak, trough } = isOk ? extremeHours(profile) : { peak: null, trough: null }
    return {
      ...verdict,
      ...(isOk ? cyclesOf(window, column, middles, quantumOf(column.name) ?? 0) : nothing),
      daily_profile: profile,
      weekly_profile: isThere ? weeklyProfile(column.values, window.weekHours, spanMs) : null,
      peak_hour: peak,
      trough_hour: trough,
    }
  })
}

const nothing = {
  slope_per_day: null,
  slope_ci95: null,
  trend: null,
  peaks: [],
  day: null,
  strength: { daily: null, weekly: null, trend: null, reason: null },
  label: null,
  periodogram: null,
}

function lackOf(observed: number, { cells, stepMs }: GridFrame): Lacking | null {
  const days = (cells * stepMs) / dayMs
  if (days < spanDaysMin) return { reason: reasons.shortSpan, needed: spanDaysMin, found: days }
  const found = observed / cells
  return found < coverageMin ? { reason: reasons.sparseCells, needed: coverageMin, found } : null
}

function cyclesOf(window: StatsWindow, column: StatsColumn, middles: Float64Array, quantum: number) {
  const { fine, hourly, localHours } = window
  const { stepMs, cells } = fine.frame
  const search = searchOf(fine.frame)
  const clean = hampelClean(column.cells, search.clean)
  const cleanHours = binMeans(middles, clean, hourly.frame)
  bridgeShortGaps(cleanHours, () => stepMs / hourMs)
  const { slopePerCell, residual } = detrend(clean, clean)
  const steps = sensorSteps(quantum, slopePerCell, cells)
  const days = (cells * stepMs) / dayMs
  const day = stepMs <= slowMs ? dayTest(cleanHours, localHours) : null
  const { peaks: spectral, picture } = search.peaksOf(residual, steps)
  const found = day?.isDaily ? withDay(spectral, { sampling: search.sampling, residual }, { steps, days }) : spectral
  const peaks = cyclesPart(found, { sampling: search.sampling, residual }, window, column.values, steps)
  const hours = (periodCells: number) => (periodCells * stepMs) / hourMs
  const significant = peaks.filter(peak => peak.significant)
  const weekIsPeak = significant.some(({ cycles }) => Math.abs(cycles - days / 7) <= distanceMax)
  const dayIsPeak = significant.some(({ cycles }) => harmonicOfDay(cycles, days) !== null)
  const strength =
    stepMs <= slowMs ? strengthOf(cleanHours, localHours, weekIsPeak, quantum) : noStrength(reasons.slowReadings)
  const slopePerDay = slopePerCell * (dayMs / stepMs)
  const trendInput = { hourly: cleanHours, localHours, slopePerDay, hasDay: dayIsPeak }
  return {
    ...trendPart(trendInput),
    peaks,
    day: day && { p_value: day.pValue, share: day.share },
    strength,
    label: strength.daily === null ? null : strengthLabel(strength.daily, dayIsPeak),
    periodogram: {
      period_hours: picture.periods.map(hours),
      power_db: picture.powerDecibels,
      background_db: picture.backgroundDecibels,
    },
  }
}

function trendPart(input: TrendInput) {
  const { slopeInterval, nEffective, theilSenPerDay, mannKendall, drift, direction, reason } = trendOf(input)
  return {
    slope_per_day: input.slopePerDay,
    slope_ci95: slopeInterval,
    trend: {
      direction,
      reason,
      n_eff: nEffective,
      theil_sen_per_day: theilSenPerDay,
      mann_kendall: mannKendall && { tau: mannKendall.tau, z: mannKendall.z, p_value: mannKendall.pValue },
      drift: drift && { t: orNull(drift.t), df: drift.df, p_value: drift.pValue },
    },
  }
}
