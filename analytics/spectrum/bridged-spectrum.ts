/** The spectrum of a series with straight lines in place of its gaps. */

import { detrend } from '../decomposition/detrend.ts'
import { bridgeGaps } from '../time/fill-gaps.ts'
import type { Background } from './background.ts'
import type { Spectrum } from './periodogram.ts'

/** In 1/T: how far beside its frequency a peak's top is looked for. */
const reachCycles = 0.5

/** What makes a spectrum of series of one length; `room` for one of them. */
interface Tools {
  readonly periodogram: (values: Float64Array) => Spectrum
  readonly background: Background
  readonly room: Float64Array
}

/** How far the cycle of a frequency stands out of its background there, until the tools are used again. */
export function ratiosWithoutGaps(
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

/** The bin of the most power near a frequency. */
function highestBin({ power, size, cells }: Spectrum, frequency: number): number {
  const reach = (reachCycles * size) / cells
  const last = Math.min(power.length - 1, Math.floor(frequency * size + reach))
  let highest = Math.round(frequency * size)
  for (let bin = Math.ceil(frequency * size - reach); bin <= last; bin++) {
    if ((power[bin] as number) > (power[highest] as number)) highest = bin
  }
  return highest
}
