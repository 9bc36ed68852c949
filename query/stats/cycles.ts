/**
 * The cycles of a metric in an answer. They are found on the grid; for irregular devices they are then measured on the
 * readings.
 */

import { detrendAtTimes } from '../../analytics/decomposition/detrend.ts'
import { orNull, presentOf } from '../../analytics/present.ts'
import { refineJointly } from '../../analytics/spectrum/cycle-finder.ts'
import { cellMiddleMs, harmonicsOf, maximumNear, timesADay } from '../../analytics/spectrum/harmonics.ts'
import { type Sampling, timesSampling } from '../../analytics/spectrum/lomb-scargle.ts'
import { nyquist, type SeasonalPeak } from '../../analytics/spectrum/seasonal-peaks.ts'
import {
  falseAlarmProbability,
  isSignificant,
  momentsOfTimes,
  type SensorSteps,
} from '../../analytics/spectrum/significance.ts'
import { dayMs, type StatsWindow } from './window.ts'

const hourMs = 3_600_000

/** A detrended series in which cycles are measured. Times are in cells. A whole number is the middle of one. */
interface Measured {
  readonly sampling: Sampling
  readonly values: Float64Array
  /** Times of the first and the last value; sinusoids count from the first. */
  readonly first: number
  readonly last: number
}

/** `peaks` are the grid's; `residual` are its detrended cells. */
export function cyclesPart(
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
  /** At exactly 24/k h: with a slightly different period, the phase would drift over the window. */
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
