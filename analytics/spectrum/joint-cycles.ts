/**
 * Refines several frequencies of a series jointly: each in turn where its Lomb–Scargle power is largest in the series
 * without the other cycles, until none of them moves any more. Refined alone, a cycle is drawn aside by what the others
 * leak into its surroundings.
 *
 * Source: the RELAX algorithm of Li and Stoica, IEEE Transactions on Signal Processing 44 (1996). It converges to the
 * least squares of all sinusoids together, the quicker the farther they are apart.
 */

import type { Sinusoid } from './lomb-scargle.ts'
import { refineFrequency } from './refine-frequency.ts'
import type { Sampling } from './sampling.ts'

/** Cycles that are near each other take many; most take a few. */
const roundsMax = 30
/** In 1/T: of the frequency of a cycle that fits in four times 1e-6, as the rounds that are left may add up to ten times it. */
const closeEnough = 4e-6

/**
 * By place the refined frequency; undefined where the power has no maximum within the main lobe, which is then no cycle.
 * `values`: the detrended series.
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
    if (move <= closeEnough * sampling.resolution) break
  }
  return cycles.map(cycle => cycle?.frequency)
}

/** `rest` is without all cycles, before and after. A cycle that has wandered out of the lobe of its `start` is none. */
function refineOne(rest: Float64Array, cycle: Sinusoid, start: number, sampling: Sampling): Sinusoid | undefined {
  sampling.without(rest, negative(cycle), rest)
  const refined = refineFrequency(sampling.fitter(rest), sampling.resolution, cycle.frequency)
  if (refined === undefined || Math.abs(refined.frequency - start) > sampling.resolution) return
  sampling.without(rest, refined, rest)
  return refined
}

/** What gives the cycle back when it is subtracted. */
function negative({ frequency, power, cosine, sine, offset }: Sinusoid): Sinusoid {
  return { frequency, power, cosine: -cosine, sine: -sine, offset: -offset }
}
