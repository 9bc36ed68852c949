/**
 * The cycles of a series: spectral peaks that stand out of their local background, extracted one at a time.
 *
 * Candidates have 20 times their background, and the one with the largest Lomb–Scargle power is accepted. Its sinusoid
 * is subtracted and the spectrum computed again, at most five times. Extracted together, side lobes of a gap or of a
 * clean cycle would look like cycles of their own. After the last one all frequencies are refined jointly. Power and
 * amplitude describe the whole detrended series at that frequency, so that they can be reproduced.
 *
 * If even the strongest peak does not stand out, as in red noise, it is listed as not significant.
 *
 * Values that are missing at the same time every day are 0 in the spectrum, which turns slow variation into a daily
 * cycle. With such holes, a peak also has to stand out of the spectrum of the series with straight lines in its gaps.
 * Lines are the most likely values of a random walk, so that slow parts leave nothing at a day. The other cycles stay
 * in it: several at a day and its fractions are determined only by their sum outside the holes.
 */

import { detrend } from '../decomposition/detrend.ts'
import { bridgeGaps } from '../time/fill-gaps.ts'
import { Background, type PeriodogramPicture, periodogramPicture } from './background.ts'
import { type Candidate, createCycleFinder, refineJointly } from './cycle-finder.ts'
import { transformSize } from './fft-plans.ts'
import { harmonicOfDay } from './harmonics.ts'
import { createSeriesRoom, gridSampling, observedSeries, type Sampling, withoutSinusoid } from './lomb-scargle.ts'
import { createPeriodogram, hannWindow, type Spectrum } from './periodogram.ts'
import {
  cyclesMin,
  falseAlarmProbability,
  isNear,
  isSignificant,
  observedTimes,
  type SensorSteps,
  standingOut,
  strongBins,
} from './significance.ts'

/** The highest frequency of a grid, in cycles a cell. */
export const nyquist = 0.5
const peaksMax = 5
/** Beyond it the background consists of rounding, and the ratio is meaningless. */
const ratioMax = 1e6
/** Share of the variance below which a later peak is a remainder of earlier ones, from rounding and gaps. */
const shareMin = 1e-6
export interface SeasonalPeak {
  /** Cycles a cell. */
  readonly frequency: number
  /** Cycles within the span of the series. */
  readonly cycles: number
  /** z of the detrended series at this frequency, the share of its variance explained. */
  readonly power: number
  readonly amplitude: number
  /**
   * P over background in the spectrum in which the peak was found, or without its holes where the ratio is smaller; at
   * most 1e6.
   */
  readonly snr: number
  readonly falseAlarm: number
  readonly significant: boolean
  /** Found by the signs of the days instead of its ratio; see `withDay`. */
  readonly isOfDays?: boolean
}

interface SeasonalPeaks {
  /** Largest power first, at most five; all but one stand out. */
  readonly peaks: SeasonalPeak[]
  readonly picture: PeriodogramPicture
}

/**
 * Searches a detrended series on a grid, NaN where missing, which must vary, for cycles that fit in at least four
 * times.
 */
export type PeakSearch = (values: Float64Array, steps?: SensorSteps) => SeasonalPeaks

/**
 * Adds the cycle of 24 h that the days of a detrended series show by their signs (see `dayTest`), if no peak at a day
 * or its fractions is significant. A slow curve in steps of the sensor does not get one.
 */
export function withDay(
  peaks: readonly SeasonalPeak[],
  { sampling, residual }: { readonly sampling: Sampling; readonly residual: Float64Array },
  { steps, days }: { readonly steps: SensorSteps; readonly days: number },
): readonly SeasonalPeak[] {
  if (peaks.some(({ significant, cycles }) => significant && harmonicOfDay(cycles, days) !== null)) return peaks
  const frequency = days * sampling.resolution
  const { power, cosine, sine } = sampling.fitter(residual)(frequency)
  const own = peaks.find(({ cycles }) => Math.abs(cycles - days) <= 1)
  const amplitude = Math.hypot(cosine, sine)
  const falseAlarm = falseAlarmProbability(power, observedTimes(residual), nyquist)
  const peak = { frequency, cycles: days, power, amplitude, snr: own?.snr ?? 0, falseAlarm, isOfDays: true }
  if (!isSignificant(peak, { steps, days })) return peaks
  const others = peaks.filter(one => one !== own)
  return [...others, { ...peak, significant: true }].sort((a, b) => b.power - a.power)
}

const noSteps: SensorSteps = { quantum: 0, passed: 0 }

/**
 * Creates the search for series of one length, which share its tables and buffers. `cellsPerDay`: a multiple or a
 * whole fraction of 24. Without it the series have no day.
 */
export function createPeakSearch(cells: number, cellsPerDay?: number): PeakSearch {
  const window = hannWindow(cells)
  const periodogram = createPeriodogram(window)
  const background = new Background(transformSize(2 * cells), cells)
  const room = createSeriesRoom(cells)
  const sampling = gridSampling(cells, room)
  const findCycle = createCycleFinder(background, window, room)
  const left = new Float64Array(cells)
  const days = cellsPerDay === undefined ? undefined : cells / cellsPerDay

  function findCandidates(values: Float64Array): {
    candidates: Candidate[]
    strongest: Candidate | undefined
    picture: PeriodogramPicture
  } {
    background.reset()
    let rest = values
    let spectrum = periodogram(rest)
    background.take(spectrum, [])
    const picture = periodogramPicture(spectrum, background)
    const strongest = findCycle({ spectrum, rest }, strongBins(spectrum))
    const { squares, weightSum } = observedSeries(values, undefined, room)
    const candidates: Candidate[] = []
    const removed: number[] = []
    while (candidates.length < peaksMax) {
      const isFirst = candidates.length === 0
      const bins = standingOut(spectrum, background, removed)
      const found = findCycle({ spectrum, rest }, bins, isFirst ? strongest : undefined)
      if (found === undefined) break
      const { cycle, frequency } = found
      if (!isFirst && (cycle.cosine ** 2 + cycle.sine ** 2) * weightSum < 2 * shareMin * squares) break
      candidates.push(found)
      removed.push(frequency)
      // The first line was fitted to the cycle too. Its error must not enter the next spectrum.
      rest = detrend(withoutSinusoid(rest, cycle, left), left).residual
      spectrum = periodogram(rest)
      background.take(spectrum, removed)
    }
    return { candidates, strongest, picture }
  }

  return (values, steps = noSteps) => {
    const { candidates, strongest, picture } = findCandidates(values)
    const times = observedTimes(values)
    const hasHoles = cellsPerDay !== undefined && hasRecurringHole(values, cellsPerDay)
    const peaksAt = (found: readonly Candidate[]) => {
      const frequencies = found.map(({ frequency }) => frequency)
      const refined = refineJointly(values, frequencies, sampling)
      const fit = sampling.fitter(values)
      const peaks = found.flatMap(({ snr }, place): SeasonalPeak[] => {
        const frequency = refined[place]
        if (frequency === undefined || frequency * cells < cyclesMin) return []
        const { power, cosine, sine } = fit(frequency)
        const amplitude = Math.hypot(cosine, sine)
        const falseAlarm = falseAlarmProbability(power, times, nyquist)
        const peak = {
          frequency,
          cycles: frequency * cells,
          power,
          amplitude,
          snr: Math.min(snr, ratioMax),
          falseAlarm,
        }
        return [{ ...peak, significant: isSignificant(peak, { steps, days }) }]
      })
      if (!hasHoles || !peaks.some(({ significant }) => significant)) return peaks
      const ratioAt = ratiosWithoutGaps(values, { periodogram, background, room: left })
      return peaks.map(peak => {
        const snr = Math.min(peak.snr, ratioAt(peak.frequency))
        return { ...peak, snr, significant: isSignificant({ ...peak, snr }, { steps, days }) }
      })
    }
    const peaks = peaksAt(candidates).sort((a, b) => b.power - a.power)
    const isKnown = candidates.some(({ frequency }) => isNear(frequency, strongest?.frequency ?? frequency, cells))
    const [other] = strongest === undefined || isKnown || peaks.length === peaksMax ? [] : peaksAt([strongest])
    const isStronger = other !== undefined && other.power > (peaks[0]?.power ?? 0)
    return { peaks: isStronger ? [other, ...peaks] : peaks, picture }
  }
}

const hoursOfDay = 24
const daysMin = 3
/** Difference between the hours of the day with the most and the fewest missing cells. */
const shareDifferenceMin = 0.3

/** `values`: cells in order, NaN where missing. `cellsPerDay`: a multiple or a whole fraction of 24. */
export function hasRecurringHole(values: Float64Array, cellsPerDay: number): boolean {
  if (values.length < daysMin * cellsPerDay) return false
  const slots = Math.min(hoursOfDay, cellsPerDay)
  const missing = new Float64Array(slots)
  const cells = new Float64Array(slots)
  const cellsPerSlot = cellsPerDay / slots
  for (let i = 0; i < values.length; i++) {
    const hour = Math.floor((i % cellsPerDay) / cellsPerSlot)
    ;(cells[hour] as number)++
    if (Number.isNaN(values[i] as number)) (missing[hour] as number)++
  }
  const shares = missing.map((count, hour) => count / (cells[hour] as number))
  return Math.max(...shares) - Math.min(...shares) >= shareDifferenceMin
}

/** Search radius of a peak's top around its frequency, in 1/T. */
const reachCycles = 0.5

/** The tools for spectra of series of one length; `room` has buffers for one of them. */
interface Tools {
  readonly periodogram: (values: Float64Array) => Spectrum
  readonly background: Background
  readonly room: Float64Array
}

/** Ratios of the cycle of a frequency to its background, valid until the tools are used again. */
function ratiosWithoutGaps(
  values: Float64Array,
  { periodogram, background, room }: Tools,
): (frequency: number) => number {
  room.set(values)
  bridgeGaps(room)
  const spectrum = periodogram(detrend(room, room).residual)
  background.reset()
  background.take(spectrum, [])
  return frequency => {
    const bin = highestBin(spectrum, frequency)
    return (spectrum.power[bin] as number) / background.at(bin)
  }
}

/** The bin with the most power near a frequency. */
function highestBin({ power, size, cells }: Spectrum, frequency: number): number {
  const reach = (reachCycles * size) / cells
  const last = Math.min(power.length - 1, Math.floor(frequency * size + reach))
  let highest = Math.round(frequency * size)
  for (let bin = Math.ceil(frequency * size - reach); bin <= last; bin++) {
    if ((power[bin] as number) > (power[highest] as number)) highest = bin
  }
  return highest
}
