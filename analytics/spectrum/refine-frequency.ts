/**
 * The frequency near a spectral peak at which the Lomb–Scargle power is largest: a bin of a Fourier transform tells a
 * 24 h cycle of 30 days only as 23.7 or 24.3 h.
 */

import type { Sinusoid } from './lomb-scargle.ts'

/** All in 1/T, T being the span. The main lobe ends so far beside its top; what moves farther belongs to another peak. */
const driftMax = 1
/**
 * The three powers of a parabola lie so close that it is off by 1e-6/T, and so far apart that rounding does not matter.
 */
const step = 1e-3
/** The largest move at a time, well within the lobe. */
const moveMax = 0.1
/**
 * Each move leaves about the square of its size: after one of this size the top is met within 2e-5/T, which is 1e-5 of the
 * slowest cycle's frequency.
 */
const closeEnough = 4e-3
const movesMax = 16

/**
 * The sinusoid of the largest power near `start`, or undefined when the power rises out of the peak's lobe, as on the
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
    // Beyond the bend of the lobe there is no top to compute, only a direction.
    const move = curvature < 0 ? (step * 0.5 * (left - right)) / curvature : Math.sign(right - left) * moveMax
    frequency += Math.max(-moveMax, Math.min(moveMax, move)) * resolution
    if (Math.abs(frequency - start) > driftMax * resolution) return undefined
    if (curvature < 0 && Math.abs(move) <= closeEnough) return fit(frequency)
  }
  return undefined
}
