/** A spectrum thinned for a chart: at most 256 points, evenly spaced on a logarithmic axis, without losing a peak. */

import type { Background } from './background.ts'
import type { Spectrum } from './periodogram.ts'

const pointsMax = 256
/** Lower power is rounding of a series whose strongest cycle is at 0. */
const decibelMin = -120

/** Longest period first. Decibels are relative to the largest power of the spectrum, and at least −120. */
export interface PeriodogramPicture {
  /** In cells, from the span of the series down to two. */
  readonly periods: readonly number[]
  readonly powerDecibels: readonly number[]
  readonly backgroundDecibels: readonly number[]
}

/** For each stretch of frequencies the bin with the largest power, with its background; empty without any power. */
export function periodogramPicture(spectrum: Spectrum, background: Background): PeriodogramPicture {
  const { power, size, cells } = spectrum
  const periods: number[] = []
  const powerDecibels: number[] = []
  const backgroundDecibels: number[] = []
  const first = Math.ceil(size / cells)
  const last = power.length - 1
  const largest = largestOf(power, first, last + 1)
  for (let point = 0, from = first; point < pointsMax && from <= last && largest.power > 0; point++) {
    // At low frequencies a stretch is shorter than a bin: then it is one bin, and there are fewer points.
    const until = Math.max(from + 1, Math.floor(first * ((last + 1) / first) ** ((point + 1) / pointsMax)))
    const { bin, power: value } = largestOf(power, from, until)
    periods.push(size / bin)
    powerDecibels.push(decibels(value, largest.power))
    backgroundDecibels.push(decibels(background.near(bin), largest.power))
    from = until
  }
  return { periods, powerDecibels, backgroundDecibels }
}

function largestOf(power: Float64Array, from: number, until: number): { bin: number; power: number } {
  let bin = from
  for (let k = from + 1; k < until; k++) if ((power[k] as number) > (power[bin] as number)) bin = k
  return { bin, power: power[bin] as number }
}

function decibels(power: number, reference: number): number {
  return Math.max(decibelMin, 10 * Math.log10(power / reference))
}
