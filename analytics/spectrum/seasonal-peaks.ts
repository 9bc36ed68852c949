/**
 * The cycles of a series: spectral peaks that stand out of their local background, taken one at a time.
 *
 * The candidate with the largest Lomb–Scargle power is accepted, its sinusoid subtracted and the spectrum computed
 * again, at most five times; every candidate but the first needs 20 times its background in what is left. Taken all
 * at once, side lobes of a gap or of a clean cycle would pass for cycles of their own. What is reported of a peak
 * (period, z, amplitude, phase) is that of the whole detrended series, so that anyone can compute it again.
 */

import { detrend } from '../decomposition/detrend.ts'
import { Background } from './background.ts'
import { falseAlarmProbability, observedTimes } from './false-alarm.ts'
import { transformSize } from './fft-plans.ts'
import {
  createSeriesRoom,
  fitSinusoid,
  type ObservedSeries,
  observedSeries,
  type SeriesRoom,
  type Sinusoid,
  withoutSinusoid,
} from './lomb-scargle.ts'
import { createPeriodogram, hannWindow, isLocalMaximum, parabolaVertex, type Spectrum } from './periodogram.ts'
import { type PeriodogramPicture, periodogramPicture } from './periodogram-picture.ts'
import { refineFrequency } from './refine-frequency.ts'

/** The highest frequency of a grid, in cycles a cell. */
export const nyquist = 0.5
const peaksMax = 5
/** Four, and a little less for a cycle that fits in exactly four times and is measured with noise. */
const cyclesMin = 3.95
/** Power over background from which a peak is a cycle and not noise. */
export const significantRatio = 20
/** The screen's background may lie this much above the true one. */
const screenRatio = significantRatio / 2
/**
 * Share of the variance below which a later peak is no cycle but what rounding and gaps have left of the earlier ones.
 */
const shareMin = 1e-6
/**
 * z goes with P but for gaps and the window: only candidates with at least this share of the largest P can have the
 * largest z.
 */
const rivalShare = 0.5
const rivalsMax = 8
/**
 * Half the width of the Hann window's main lobe and a little, in 1/T: two cycles closer than that are not told apart.
 */
const lobeCycles = 2.5

export interface SeasonalPeak {
  /** Cycles a cell. */
  readonly frequency: number
  /** Cycles within the span of the series. */
  readonly cycles: number
  /** z of the detrended series at this frequency, the share of its variance explained. */
  readonly power: number
  readonly amplitude: number
  /** The place of the maximum next to the last cell, in cells; a whole number is the middle of a cell. */
  readonly maximumCell: number
  /** P over background in the spectrum in which the peak was found. */
  readonly snr: number
  readonly falseAlarm: number
  readonly significant: boolean
}

export interface SeasonalPeaks {
  /** Largest power first, at most five; all but the first found are significant. */
  readonly peaks: SeasonalPeak[]
  /** The spectrum of the whole series. */
  readonly picture: PeriodogramPicture
}

/**
 * Makes the search for series of one length, whose tables and buffers all of them share. A search takes a detrended
 * series on a grid, NaN where missing, in which something varies, and finds cycles that fit in at least four times.
 */
export function createPeakSearch(cells: number): (values: Float64Array) => SeasonalPeaks {
  const window = hannWindow(cells)
  const periodogram = createPeriodogram(window)
  const background = new Background(transformSize(2 * cells), cells)
  const [roomOfWhole, roomOfRest] = [createSeriesRoom(cells), createSeriesRoom(cells)]
  const left = new Float64Array(cells)

  return values => {
    background.reset()
    const whole = observedSeries(values, undefined, roomOfWhole)
    const times = observedTimes(values)
    let rest = values
    const removedFrequencies: number[] = []
    const peaks: SeasonalPeak[] = []
    let spectrum = periodogram(rest)
    background.take(spectrum, removedFrequencies)
    const picture = periodogramPicture(spectrum, background)
    for (;;) {
      const isFirst = peaks.length === 0
      const bins = isFirst ? firstCandidates(spectrum) : laterCandidates(spectrum, background, removedFrequencies)
      const bin = strongest(spectrum, bins, rest, roomOfRest)
      if (bin === undefined) break
      const removed = cycleUnderWindow(
        observedSeries(rest, window, roomOfRest),
        parabolaVertex(spectrum, bin) / spectrum.size,
      )
      const variance = (removed.cosine ** 2 + removed.sine ** 2) / 2
      if (!isFirst && variance * whole.weightSum < shareMin * whole.squares) break
      const reported = cycleOfWhole(whole, removed.frequency)
      const snr = (spectrum.power[bin] as number) / background.at(bin)
      const falseAlarm = falseAlarmProbability(reported.power, times, nyquist)
      peaks.push({ ...describe(reported, cells), snr, falseAlarm, significant: snr >= significantRatio })
      if (peaks.length === peaksMax) break
      removedFrequencies.push(removed.frequency)
      // The first line was fitted to the cycle as well, and what it took too much is no part of the next spectrum.
      rest = detrend(withoutSinusoid(rest, removed, left), left).residual
      spectrum = periodogram(rest)
      background.take(spectrum, removedFrequencies)
    }
    return { peaks: peaks.sort((a, b) => b.power - a.power), picture }
  }
}

/** The bins that may have the largest z in the spectrum of the whole series: local maxima with nearly the largest P. */
function firstCandidates(spectrum: Spectrum): number[] {
  const { power } = spectrum
  const from = Math.max(1, Math.floor(lowestBin(spectrum)))
  const strong: number[] = []
  let largest = 0
  for (let bin = from; bin < power.length - 1; bin++) {
    const value = power[bin] as number
    if (value < rivalShare * largest || !isLocalMaximum(power, bin) || !isCycle(spectrum, bin)) continue
    largest = Math.max(largest, value)
    strong.push(bin)
  }
  return strong
    .filter(bin => (power[bin] as number) >= rivalShare * largest)
    .sort((a, b) => (power[b] as number) - (power[a] as number))
    .slice(0, rivalsMax)
}

/**
 * The same in what is left: they must stand out, outside the main lobes of what was taken already, where only a
 * cycle's changes in strength are left.
 */
function laterCandidates(spectrum: Spectrum, background: Background, removedFrequencies: readonly number[]): number[] {
  const { power, size, cells } = spectrum
  const byPower = background
    .standingOut(Math.floor(lowestBin(spectrum)), screenRatio)
    .filter(bin => isCycle(spectrum, bin))
    .filter(bin => removedFrequencies.every(frequency => Math.abs(bin / size - frequency) * cells > lobeCycles))
    .sort((a, b) => (power[b] as number) - (power[a] as number))
  const chosen: number[] = []
  let powerMin = 0
  for (const bin of byPower) {
    const value = power[bin] as number
    if (chosen.length >= rivalsMax || value < powerMin) break
    if (!(value >= significantRatio * background.at(bin))) continue
    chosen.push(bin)
    powerMin ||= rivalShare * value
  }
  return chosen
}

/** The bin of the slowest cycle that is looked for. */
function lowestBin({ size, cells }: Spectrum): number {
  return (cyclesMin * size) / cells
}

function isCycle(spectrum: Spectrum, bin: number): boolean {
  const lowest = lowestBin(spectrum)
  return bin > lowest + 1 || parabolaVertex(spectrum, bin) >= lowest
}

function strongest(
  spectrum: Spectrum,
  bins: readonly number[],
  values: Float64Array,
  room: SeriesRoom,
): number | undefined {
  if (bins.length < 2) return bins[0]
  const series = observedSeries(values, undefined, room)
  const powers = bins.map(bin => fitSinusoid(series, parabolaVertex(spectrum, bin) / spectrum.size).power)
  return bins[powers.indexOf(Math.max(...powers))]
}

/**
 * The sinusoid to subtract. The series is weighted by the spectrum's own window: what is left then has no power at its
 * frequency in the next spectrum, which a plain fit leaves there as soon as something else, as a bent trend,
 * correlates with it.
 */
function cycleUnderWindow(series: ObservedSeries, frequency: number): Sinusoid {
  return refineFrequency(series, frequency) ?? fitSinusoid(series, frequency)
}

/** The flank of a stronger neighbour may have no maximum here; then the frequency that was found in the rest stands. */
function cycleOfWhole(whole: ObservedSeries, frequency: number): Sinusoid {
  const refined = refineFrequency(whole, frequency)
  const isCycle = refined !== undefined && refined.frequency * whole.cells >= cyclesMin
  return isCycle ? refined : fitSinusoid(whole, frequency)
}

function describe({ frequency, power, cosine, sine }: Sinusoid, cells: number) {
  const period = 1 / frequency
  const firstMaximum = (Math.atan2(sine, cosine) / (2 * Math.PI)) * period
  const maximumCell = firstMaximum + Math.round((cells - 1 - firstMaximum) / period) * period
  return { frequency, cycles: frequency * cells, power, amplitude: Math.hypot(cosine, sine), maximumCell }
}
