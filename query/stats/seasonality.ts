/** The cycles of each metric, their strengths, and the profiles of a day and a week. */

import { detrend, detrendAtTimes } from '../../analytics/decomposition/detrend.ts'
import { dailyProfile, extremeHours, weeklyProfile } from '../../analytics/decomposition/profiles.ts'
import { noStrength, strengthLabel, strengthOf } from '../../analytics/decomposition/strength.ts'
import { type TrendInput, trendOf } from '../../analytics/decomposition/trend.ts'
import { orNull, presentOf } from '../../analytics/present.ts'
import { hampelClean } from '../../analytics/quality/hampel.ts'
import { reasons } from '../../analytics/reasons.ts'
import { refineJointly } from '../../analytics/spectrum/cycle-finder.ts'
import { dayTest } from '../../analytics/spectrum/day-test.ts'
import {
  cellMiddleMs,
  distanceMax,
  harmonicOfDay,
  harmonicsOf,
  maximumNear,
  timesADay,
} from '../../analytics/spectrum/harmonics.ts'
import { gridSampling, type Sampling, timesSampling } from '../../analytics/spectrum/lomb-scargle.ts'
import {
  createPeakSearch,
  nyquist,
  type PeakSearch,
  type SeasonalPeak,
  withDay,
} from '../../analytics/spectrum/seasonal-peaks.ts'
import {
  falseAlarmProbability,
  isSignificant,
  momentsOfTimes,
  type SensorSteps,
  sensorSteps,
} from '../../analytics/spectrum/significance.ts'
import { bridgeShortGaps } from '../../analytics/time/fill-gaps.ts'
import { binMeans, type GridFrame } from '../../analytics/time/grid.ts'
import { hoursOfDay } from '../../analytics/time/local-days.ts'
import { type Lacking, verdictOf } from '../analyses/answer-text.ts'
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

/** A detrended series in which cycles are measured. Times are in cells. A whole number is the middle of one. */
interface Measured {
  readonly sampling: Sampling
  readonly values: Float64Array
  /** Times of the first and the last value; sinusoids count from the first. */
  readonly first: number
  readonly last: number
}

/** `peaks` are the grid's; `residual` are its detrended cells. */
function cyclesPart(
  peaks: readonly SeasonalPeak[],
  { sampling, residual }: { readonly sampling: Sampling; readonly residual: Float64Array },
  window: StatsWindow,
  values: Float64Array,
  steps: SensorSteps,
) {
  if (window.cadence.kind !== 'irregular') {
    return partsOf(peaks, { sampling, values: residual, first: 0, last: residual.length - 1 }, window)
  }
  const readings = readingsOf(window, values)
  const { first, last } = readings.measured
  const days = ((last - first) * window.fine.frame.stepMs) / dayMs
  return partsOf(measuredAgain(peaks, readings, { steps, days }), readings.measured, window)
}

/**
 * The readings of an irregular device at their own times, which may be far from the middles of their cells. They are
 * not cleaned: at uneven distances Hampel's filter mistakes a quick cycle for outliers.
 */
function readingsOf({ timesMs, fine: { frame } }: StatsWindow, values: Float64Array) {
  const present = presentOf(timesMs, values)
  const times = present.timesMs.map(timeMs => (timeMs - frame.startMs) / frame.stepMs - 0.5)
  const level = detrendAtTimes(times, present.values)
  const measured = { sampling: timesSampling(times), values: level, first: times[0] ?? 0, last: times.at(-1) ?? 0 }
  return { times, measured }
}

/** Period, power and amplitude from the readings. Without a maximum of power near the grid's, the cycle is dropped. */
function measuredAgain(
  peaks: readonly SeasonalPeak[],
  { times, measured: { sampling, values } }: { readonly times: Float64Array; readonly measured: Measured },
  { steps, days }: { readonly steps: SensorSteps; readonly days: number },
): SeasonalPeak[] {
  const observed = momentsOfTimes(times)
  const fit = sampling.fitter(values)
  const frequencies = refineJointly(
    values,
    peaks.map(({ frequency }) => frequency),
    sampling,
  )
  return peaks
    .flatMap((peak, place): SeasonalPeak[] => {
      const frequency = frequencies[place]
      if (frequency === undefined) return []
      const { power, cosine, sine } = fit(frequency)
      const amplitude = Math.hypot(cosine, sine)
      const falseAlarm = falseAlarmProbability(power, observed, nyquist)
      const measured = { ...peak, frequency, cycles: frequency / sampling.resolution, power, amplitude, falseAlarm }
      return [{ ...measured, significant: isSignificant(measured, { steps, days }) }]
    })
    .sort((a, b) => b.power - a.power)
}

function partsOf(peaks: readonly SeasonalPeak[], measured: Measured, { fine: { frame }, local }: StatsWindow) {
  const hoursOf = (frequency: number) => frame.stepMs / frequency / hourMs
  const harmonics = harmonicsOf(peaks.map(({ frequency, power }) => ({ periodHours: hoursOf(frequency), power })))
  const { sampling, values, first, last } = measured
  const fit = sampling.fitter(values)
  /** The period is exactly 24/k h: with a slightly different one, the phase would drift over the window. */
  const phaseOf = (perDay: number) => {
    const sinusoid = fit((perDay * frame.stepMs) / dayMs)
    const maximumMs = cellMiddleMs(first + maximumNear(sinusoid, last - first), frame)
    return local.text(maximumMs * 1000).slice(-5)
  }
  return peaks.map((peak, place) => {
    const period_hours = hoursOf(peak.frequency)
    const perDay = timesADay(period_hours)
    return {
      period_hours,
      cycles: peak.cycles,
      power: peak.power,
      amplitude: peak.amplitude,
      phase_time: perDay === null ? null : phaseOf(perDay),
      snr: peak.snr,
      fap: orNull(peak.falseAlarm),
      significant: peak.significant,
      harmonic_of: harmonics[place] ?? null,
    }
  })
}
