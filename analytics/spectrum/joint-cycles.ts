/**
 * Refines several frequencies of a series jointly: each in turn to the maximum of its Lomb–Scargle power in the series
 * without the other cycles, until all of them are stable. Refined alone, a cycle would be shifted by the leakage of the
 * others.
 *
 * Source: the RELAX algorithm of Li and Stoica, IEEE Transactions on Signal Processing 44 (1996). It converges to the
 * least squares of all sinusoids together, the quicker the farther they are apart.
 */

import type { Sinusoid } from './lomb-scargle.ts'
import { refineFrequency } from './refine-frequency.ts'
import type { Sampling } from './sampling.ts'

/** Cycles that are near each other take many rounds; most take a few. */
const roundsMax = 30
/** In 1/T: relative to the frequency of a cycle that fits in four times, 1e-6. The remaining rounds may add up to ten times it. */
const closeEnough = 4e-6

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
    if (move <= closeEnough * sampling.resolution) break
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
