/**
 * The frequency near a spectral peak with the largest Lomb–Scargle power: a bin of a Fourier transform resolves a 24 h
 * cycle of 30 days only to 23.7 or 24.3 h.
 */

import type { Sinusoid } from './lomb-scargle.ts'

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
