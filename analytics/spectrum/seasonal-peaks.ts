/**
 * The cycles of a series: spectral peaks that stand out of their local background, taken one at a time.
 *
 * Of the candidates with 20 times their background the one with the largest Lomb–Scargle power is accepted, its sinusoid
 * subtracted and the spectrum computed again, at most five times. Taken all at once, side lobes of a gap or of a clean
 * cycle would pass for cycles of their own. After the last one all frequencies are refined jointly. Power and amplitude
 * are those of the whole detrended series at that frequency, so that anyone can compute them again.
 *
 * Where the strongest peak of all does not stand out, as in red noise, it is listed beside them as not significant.
 */

import { detrend } from '../decomposition/detrend.ts'
import { Background } from './background.ts'
import { falseAlarmProbability, observedTimes } from './false-alarm.ts'
import { transformSize } from './fft-plans.ts'
import { refineJointly } from './joint-cycles.ts'
import {
  createSeriesRoom,
  fitSinusoid,
  observedSeries,
  type SeriesRoom,
  type Sinusoid,
  withoutSinusoid,
} from './lomb-scargle.ts'
import { createPeriodogram, hannWindow, isLocalMaximum, parabolaVertex, type Spectrum } from './periodogram.ts'
import { type PeriodogramPicture, periodogramPicture } from './periodogram-picture.ts'
import { refineFrequency } from './refine-frequency.ts'
import { gridSampling } from './sampling.ts'

/** The highest frequency of a grid, in cycles a cell. */
export const nyquist = 0.5
const peaksMax = 5
/** Four, and a little less for a cycle that fits in exactly four times and is measured with noise. */
const cyclesMin = 3.95
/** Power over background from which a peak is a cycle and not noise. */
export const significantRatio = 20
/** Beyond it the background is made of rounding, and the ratio says no more. */
const ratioMax = 1e6
/** The screen's background may lie this much above the true one. */
const screenRatio = significantRatio / 2
/**
 * Share of the variance below which a later peak is no cycle but what rounding and gaps have left of the earlier ones.
 */
const shareMin = 1e-6
/**
 * z goes with P but for gaps and the window, which counts the middle of the series more than its ends: only candidates
 * with at least this share of the largest P of them are compared by z.
 */
const rivalShare = 0.1
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
  /** P over background in the spectrum in which the peak was found, at most 1e6. */
  readonly snr: number
  readonly falseAlarm: number
  /** It stands out, and moves the sensor by at least half of its smallest step either way. */
  readonly significant: boolean
}

interface SeasonalPeaks {
  /** Largest power first, at most five; all but one stand out. */
  readonly peaks: SeasonalPeak[]
  /** The spectrum of the whole series. */
  readonly picture: PeriodogramPicture
}

/**
 * Searches a detrended series on a grid, NaN where missing, in which something varies, for cycles that fit in at least
 * four times. `quantum`: the sensor's smallest step.
 */
export type PeakSearch = (values: Float64Array, quantum?: number) => SeasonalPeaks

interface Candidate {
  readonly frequency: number
  readonly snr: number
}

/** Makes the search for series of one length, whose tables and buffers all of them share. */
export function createPeakSearch(cells: number): PeakSearch {
  const window = hannWindow(cells)
  const periodogram = createPeriodogram(window)
  const background = new Background(transformSize(2 * cells), cells)
  const room = createSeriesRoom(cells)
  const sampling = gridSampling(cells, room)
  const left = new Float64Array(cells)

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
    const strongest = accept(spectrum, strongBins(spectrum), values)
    const squares = observedSeries(values, undefined, room).squares
    const candidates: Candidate[] = []
    const removed: number[] = []
    while (candidates.length < peaksMax) {
      const accepted = accept(spectrum, standingOut(spectrum, background, removed), rest)
      if (accepted === undefined) break
      const { cycle, frequency } = accepted
      const isFirst = candidates.length === 0
      if (!isFirst && (cycle.cosine ** 2 + cycle.sine ** 2) * observedCount(values) < 2 * shareMin * squares) break
      candidates.push(accepted)
      removed.push(frequency)
      // The first line was fitted to the cycle as well, and what it took too much is no part of the next spectrum.
      rest = detrend(withoutSinusoid(rest, cycle, left), left).residual
      spectrum = periodogram(rest)
      background.take(spectrum, removed)
    }
    return { candidates, strongest, picture }
  }

  /** The first of the bins, largest z first, that has a cycle. `spectrum`: that of `rest`, which the background has. */
  function accept(spectrum: Spectrum, bins: readonly number[], rest: Float64Array) {
    for (const bin of byPower(spectrum, bins, rest, room)) {
      const cycle = cycleUnderWindow(rest, parabolaVertex(spectrum, bin) / spectrum.size)
      if (cycle === undefined) continue
      return { cycle, frequency: cycle.frequency, snr: (spectrum.power[bin] as number) / background.at(bin) }
    }
    return
  }

  /**
   * The sinusoid to subtract. The series is weighted by the spectrum's own window: what is left then has no power at its
   * frequency in the next spectrum, which a plain fit leaves there as soon as something else, as a bent trend,
   * correlates with it.
   */
  function cycleUnderWindow(rest: Float64Array, start: number): Sinusoid | undefined {
    const series = observedSeries(rest, window, room)
    return refineFrequency(frequency => fitSinusoid(series, frequency), sampling.resolution, start)
  }

  return (values, quantum = 0) => {
    const { candidates, strongest, picture } = findCandidates(values)
    const times = observedTimes(values)
    const peaksAt = (found: readonly Candidate[]) => {
      const frequencies = found.map(({ frequency }) => frequency)
      const refined = refineJointly(values, frequencies, sampling)
      const fit = sampling.fitter(values)
      return found.flatMap(({ snr }, place): SeasonalPeak[] => {
        const frequency = refined[place]
        if (frequency === undefined || frequency * cells < cyclesMin) return []
        const { power, cosine, sine } = fit(frequency)
        const amplitude = Math.hypot(cosine, sine)
        const falseAlarm = falseAlarmProbability(power, times, nyquist)
        const significant = snr >= significantRatio && amplitude >= quantum / 2
        const ratio = Math.min(snr, ratioMax)
        return [{ frequency, cycles: frequency * cells, power, amplitude, snr: ratio, falseAlarm, significant }]
      })
    }
    const peaks = peaksAt(candidates).sort((a, b) => b.power - a.power)
    const isKnown = candidates.some(({ frequency }) => isNear(frequency, strongest?.frequency ?? frequency, cells))
    const [other] = strongest === undefined || isKnown || peaks.length === peaksMax ? [] : peaksAt([strongest])
    const isStronger = other !== undefined && other.power > (peaks[0]?.power ?? 0)
    return { peaks: isStronger ? [other, ...peaks] : peaks, picture }
  }
}

/** Whether one of two frequencies is within the main lobe of the other. */
function isNear(a: number, b: number, cells: number): boolean {
  return Math.abs(a - b) * cells <= lobeCycles
}

function observedCount(values: Float64Array): number {
  return values.reduce((count, value) => (Number.isNaN(value) ? count : count + 1), 0)
}

/** The bins that may have the largest z where none stands out: local maxima with nearly the largest P. */
function strongBins(spectrum: Spectrum): number[] {
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
 * The bins that stand out, largest P first, outside the main lobes of what was taken already, where only a cycle's
 * changes in strength are left.
 */
function standingOut(spectrum: Spectrum, background: Background, removedFrequencies: readonly number[]): number[] {
  const { power, size, cells } = spectrum
  const byPower = background
    .standingOut(Math.floor(lowestBin(spectrum)), screenRatio)
    .filter(bin => isCycle(spectrum, bin))
    .filter(bin => !removedFrequencies.some(frequency => isNear(bin / size, frequency, cells)))
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

/** The same bins, the one with the largest z of the values first. */
function byPower(spectrum: Spectrum, bins: readonly number[], values: Float64Array, room: SeriesRoom): number[] {
  if (bins.length < 2) return [...bins]
  const series = observedSeries(values, undefined, room)
  return bins
    .map(bin => ({ bin, z: fitSinusoid(series, parabolaVertex(spectrum, bin) / spectrum.size).power }))
    .sort((a, b) => b.z - a.z)
    .map(({ bin }) => bin)
}
