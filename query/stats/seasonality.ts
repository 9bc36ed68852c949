/** The cycles of each metric, how strong they are, and what a day and a week look like. */

import { detrend } from '../../analytics/decomposition/detrend.ts'
import { dailyProfile, extremeHours, weeklyProfile } from '../../analytics/decomposition/profiles.ts'
import { strengthLabel, strengthOf } from '../../analytics/decomposition/strength.ts'
import { orNull } from '../../analytics/or-null.ts'
import { presentOf } from '../../analytics/present.ts'
import { hampelClean } from '../../analytics/quality/hampel.ts'
import { type ReasonText, reasonTexts } from '../../analytics/reasons.ts'
import { falseAlarmProbability, momentsOfTimes } from '../../analytics/spectrum/false-alarm.ts'
import { harmonicsOf } from '../../analytics/spectrum/harmonics.ts'
import { fitSinusoidAtTimes } from '../../analytics/spectrum/lomb-scargle.ts'
import { cellMiddleMs, repeatsDaily } from '../../analytics/spectrum/phase-time.ts'
import {
  createPeakSearch,
  nyquist,
  type SeasonalPeak,
  type SeasonalPeaks,
} from '../../analytics/spectrum/seasonal-peaks.ts'
import { binMeans, type GridFrame } from '../../analytics/time/grid.ts'
import { hoursOfDay } from '../../analytics/time/hour-of-week.ts'
import type { Metric } from '../../store/tables.ts'
import { verdictOf } from './verdict.ts'
import { byMetric, cellMiddles, dayMs, type StatsWindow } from './window.ts'

const hourMs = 3_600_000
const weekHours = 168
/** Both as the reasons say. */
const spanDaysMin = 3
const coverageMin = 0.5
/** Half the width of a peak, in 1/T: a cycle that is nearer to a week than this is the week's. */
const weekDistanceMax = 0.5

interface Search {
  readonly cells: number
  /** Room for the cells of the metric whose turn it is. */
  readonly clean: Float64Array
  readonly peaksOf: (values: Float64Array) => SeasonalPeaks
}

/** For all metrics and, as its tables depend on the number of cells alone, mostly for the next device as well. */
let lastSearch: Search | undefined

function searchOf(cells: number): Search {
  if (lastSearch?.cells !== cells) {
    lastSearch = { cells, clean: new Float64Array(cells), peaksOf: createPeakSearch(cells) }
  }
  return lastSearch
}

export function seasonalityPart(window: StatsWindow) {
  const { frame } = window.fine
  const dayHours = hoursOfDay(window.weekHours)
  const middles = cellMiddles(frame)
  const spanMs = frame.cells * frame.stepMs
  return byMetric(metric => {
    const moments = window.fineMoments[metric]
    const verdict = verdictOf(moments, lackOf(moments.count, frame))
    const profile = dailyProfile(window.values[metric], dayHours)
    const isOk = verdict.status === 'ok'
    const isThere = verdict.status !== 'no_data'
    const { peak, trough } = isOk ? extremeHours(profile) : { peak: null, trough: null }
    return {
      ...verdict,
      ...(isOk ? cyclesOf(window, metric, middles) : nothing),
      daily_profile: profile,
      weekly_profile: isThere ? weeklyProfile(window.values[metric], window.weekHours, spanMs) : null,
      peak_hour: peak,
      trough_hour: trough,
    }
  })
}

const nothing = {
  slope_per_day: null,
  peaks: [],
  strength: { daily: null, weekly: null, trend: null },
  label: null,
  periodogram: null,
}

function lackOf(observed: number, { cells, stepMs }: GridFrame): ReasonText | null {
  if (cells * stepMs < spanDaysMin * dayMs) return reasonTexts.shortSpan
  return observed < coverageMin * cells ? reasonTexts.sparseCells : null
}

function cyclesOf(window: StatsWindow, metric: Metric, middles: Float64Array) {
  const { fine, hourly, localHours, cadence } = window
  const { stepMs, cells } = fine.frame
  const search = searchOf(cells)
  const clean = hampelClean(fine.means[metric], search.clean)
  const cleanHours = binMeans(middles, clean, hourly.frame)
  const { slopePerCell, residual } = detrend(clean, clean)
  const { peaks, picture } = search.peaksOf(residual)
  const hours = (periodCells: number) => (periodCells * stepMs) / hourMs
  const weeks = (cells * stepMs) / (weekHours * hourMs)
  const weekIsPeak = peaks.some(peak => peak.significant && Math.abs(peak.cycles - weeks) <= weekDistanceMax)
  const strength = strengthOf(cleanHours, localHours, weekIsPeak)
  return {
    slope_per_day: slopePerCell * (dayMs / stepMs),
    peaks: peakParts(
      cadence.kind === 'irregular' ? peaksOfReadings(peaks, window, metric, slopePerCell) : peaks,
      window,
    ),
    strength: strength ?? nothing.strength,
    label: strength === null ? null : strengthLabel(strength.daily),
    periodogram: {
      period_hours: picture.periods.map(hours),
      power_db: picture.powerDecibels,
      background_db: picture.backgroundDecibels,
    },
  }
}

/**
 * Of an irregular device power and amplitude are those of the readings at their own times, less the line: these may be
 * far from the middles of their cells.
 */
function peaksOfReadings(
  peaks: readonly SeasonalPeak[],
  { timesMs, values, fine: { frame } }: StatsWindow,
  metric: Metric,
  slopePerCell: number,
): SeasonalPeak[] {
  const present = presentOf(timesMs, values[metric])
  const level = present.values.map((value, place) => {
    return value - (slopePerCell * ((present.timesMs[place] as number) - frame.startMs)) / frame.stepMs
  })
  const cells = present.timesMs.map(timeMs => (timeMs - frame.startMs) / frame.stepMs)
  const observed = momentsOfTimes(cells)
  return peaks
    .map(peak => {
      const { power, cosine, sine } = fitSinusoidAtTimes(cells, level, peak.frequency)
      const falseAlarm = falseAlarmProbability(power, observed, nyquist)
      return { ...peak, power, amplitude: Math.hypot(cosine, sine), falseAlarm }
    })
    .sort((a, b) => b.power - a.power)
}

function peakParts(peaks: readonly SeasonalPeak[], { fine: { frame }, local }: StatsWindow) {
  const cycles = peaks.map(({ frequency, power }) => ({ periodHours: frame.stepMs / frequency / hourMs, power }))
  const harmonics = harmonicsOf(cycles)
  return peaks.map((peak, place) => {
    const period_hours = frame.stepMs / peak.frequency / hourMs
    const maximumMs = cellMiddleMs(peak.maximumCell, frame)
    return {
      period_hours,
      cycles: peak.cycles,
      power: peak.power,
      amplitude: peak.amplitude,
      phase_time: repeatsDaily(period_hours) ? local.text(maximumMs * 1000).slice(-5) : null,
      snr: peak.snr,
      fap: orNull(peak.falseAlarm),
      significant: peak.significant,
      harmonic_of: harmonics[place] ?? null,
    }
  })
}
