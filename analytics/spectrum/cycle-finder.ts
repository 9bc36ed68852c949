/** Finds the cycle behind the bins of a spectrum: a least-squares sinusoid under the spectrum's window. */

import type { Background } from './background.ts'
import { fitSinusoid, observedSeries, type SeriesRoom, type Sinusoid } from './lomb-scargle.ts'
import { parabolaVertex, type Spectrum } from './periodogram.ts'
import { refineFrequency } from './refine-frequency.ts'

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
