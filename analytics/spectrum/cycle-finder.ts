/** Finds the cycle behind the bins of a spectrum: a least-squares sinusoid under the spectrum's window. */

import type { Background } from './background.ts'
import { fitSinusoid, observedSeries, type Sampling, type SeriesRoom, type Sinusoid } from './lomb-scargle.ts'
import { parabolaVertex, type Spectrum } from './periodogram.ts'

export interface Candidate {
  readonly frequency: number
  /** P over background. */
  readonly snr: number
}

interface FoundCycle extends Candidate {
  readonly bin: number
  readonly cycle: Sinusoid
}

/** A spectrum of `rest`, which is also the background's. */
interface SpectrumOf {
  readonly spectrum: Spectrum
  readonly rest: Float64Array
}

/** The first of the bins, largest z first, that has a cycle. `known` is a cycle found in this spectrum before. */
export type CycleFinder = (of: SpectrumOf, bins: readonly number[], known?: FoundCycle) => FoundCycle | undefined

export function createCycleFinder(background: Background, window: Float64Array, room: SeriesRoom): CycleFinder {
  const resolution = 1 / window.length

  /**
   * The sinusoid to subtract. The series is weighted by the spectrum's own window, so that the remainder has no power
   * at this frequency in the next spectrum. A plain fit would leave some there as soon as another part, such as a bent
   * trend, correlates with it.
   */
  function cycleUnderWindow(rest: Float64Array, start: number): Sinusoid | undefined {
    const series = observedSeries(rest, window, room)
    return refineFrequency(frequency => fitSinusoid(series, frequency), resolution, start)
  }

  return ({ spectrum, rest }, bins, known) => {
    for (const bin of byPower(spectrum, bins, rest, room)) {
      if (bin === known?.bin) return known
      const cycle = cycleUnderWindow(rest, parabolaVertex(spectrum, bin) / spectrum.size)
      if (cycle === undefined) continue
      return { bin, cycle, frequency: cycle.frequency, snr: (spectrum.power[bin] as number) / background.at(bin) }
    }
    return
  }
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

/** All in 1/T, T being the span. The main lobe ends this far beside its top. A larger move leads to another peak. */
const driftMax = 1
/**
 * The three powers of a parabola are close enough that it is off by 1e-6/T, and far enough apart that rounding does not
 * matter.
 */
const step = 1e-3
/** The largest move at a time, well within the lobe. */
const moveMax = 0.1
/**
 * Each move leaves about the square of its size: after one of this size the top is within 2e-5/T, which is 1e-5 times
 * the frequency of the slowest cycle.
 */
const closeEnough = 4e-3
const movesMax = 16

/**
 * The sinusoid of the largest power near `start`, or undefined when the power rises beyond the peak's lobe, as on the
 * flank of a stronger neighbour. `resolution`: 1/T. Four to seven evaluations.
 */
export function refineFrequency(
  fit: (frequency: number) => Sinusoid,
  resolution: number,
  start: number,
): Sinusoid | undefined {
  let frequency = start
  for (let moves = 0; moves < movesMax; moves++) {
    const left = fit(frequency - step * resolution).power
    const middle = fit(frequency).power
    const right = fit(frequency + step * resolution).power
    const curvature = left - 2 * middle + right
    if (curvature >= 0 && left === right) return undefined
    // Beyond the bend of the lobe only the direction of the top is known.
    const move = curvature < 0 ? (step * 0.5 * (left - right)) / curvature : Math.sign(right - left) * moveMax
    frequency += Math.max(-moveMax, Math.min(moveMax, move)) * resolution
    if (Math.abs(frequency - start) > driftMax * resolution) return undefined
    if (curvature < 0 && Math.abs(move) <= closeEnough) return fit(frequency)
  }
  return undefined
}

/** Cycles that are near each other take many rounds; most take a few. */
const roundsMax = 30
/**
 * The unit is 1/T. The bound is 1e-6 of the frequency of a cycle that fits in four times. The remaining rounds may add
 * up to ten times it.
 */
const jointMoveMax = 4e-6

/**
 * The refined frequency of each cycle; undefined where the power has no maximum within the main lobe, so that the cycle
 * is dropped. `values` is the detrended series.
 */
export function refineJointly(
  values: Float64Array,
  frequencies: readonly number[],
  sampling: Sampling,
): (number | undefined)[] {
  const [first] = frequencies
  if (first !== undefined && frequencies.length === 1) {
    return [refineFrequency(sampling.fitter(values), sampling.resolution, first)?.frequency]
  }
  const rest = values.slice()
  const cycles: (Sinusoid | undefined)[] = frequencies.map(frequency => {
    const cycle = sampling.fitter(rest)(frequency)
    sampling.without(rest, cycle, rest)
    return cycle
  })
  for (let round = 0; round < roundsMax; round++) {
    let move = 0
    for (const [place, cycle] of cycles.entries()) {
      if (cycle === undefined) continue
      const refined = refineOne(rest, cycle, frequencies[place] as number, sampling)
      cycles[place] = refined
      move = Math.max(move, Math.abs((refined ?? cycle).frequency - cycle.frequency))
    }
    if (move <= jointMoveMax * sampling.resolution) break
  }
  return cycles.map(cycle => cycle?.frequency)
}

/** `rest` is without all cycles, before and after. A cycle that has moved out of the lobe of its `start` is dropped. */
function refineOne(rest: Float64Array, cycle: Sinusoid, start: number, sampling: Sampling): Sinusoid | undefined {
  sampling.without(rest, negative(cycle), rest)
  const refined = refineFrequency(sampling.fitter(rest), sampling.resolution, cycle.frequency)
  if (refined === undefined || Math.abs(refined.frequency - start) > sampling.resolution) return
  sampling.without(rest, refined, rest)
  return refined
}

/** Subtracting it restores the cycle. */
function negative({ frequency, power, cosine, sine, offset }: Sinusoid): Sinusoid {
  return { frequency, power, cosine: -cosine, sine: -sine, offset: -offset }
}
