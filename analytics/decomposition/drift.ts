/**
 * Whether a level goes on in one direction or only wanders: a random walk ends far from where it began as often as not. The
 * test is of the mean Δ of the differences of neighbouring values: t = Δ/√(LRV/n) with their long-run variance
 * LRV = γ₀ + 2·Σ_{k≤L}(1 − k/(L + 1))·γ_k, L = ⌊√n⌋ (Bartlett's window), and 3n/(L + 1) degrees of freedom (Priestley, Spectral
 * Analysis and Time Series, 1981). Steps of a random walk are independent, so that LRV is their variance. Those of noise about
 * a line nearly cancel: then the test is as strong as one of the line.
 */

import { studentTwoSidedP } from '../correlation/student.ts'

/** As for the test of Mann and Kendall. */
const valuesMin = 10
/** LRV is at least this share of the variance of the differences: an estimate may be 0 or less. */
const varianceShareMin = 0.05

export interface Drift {
  /** Infinite of an exact line. */
  readonly t: number
  readonly df: number
  /** Two-sided. */
  readonly pValue: number
}

/** Of values in order. Null of fewer than ten, and of equal ones. */
export function driftTest(values: Float64Array): Drift | null {
  if (values.length < valuesMin) return null
  const n = values.length - 1
  const mean = ((values[n] as number) - (values[0] as number)) / n
  const steps = Float64Array.from({ length: n }, (_, i) => (values[i + 1] as number) - (values[i] as number) - mean)
  const variance = autocovariance(steps, 0)
  if (mean === 0 && variance === 0) return null
  const lagMax = Math.floor(Math.sqrt(n))
  let longRun = variance
  for (let lag = 1; lag <= lagMax; lag++) longRun += 2 * (1 - lag / (lagMax + 1)) * autocovariance(steps, lag)
  const t = mean / Math.sqrt(Math.max(longRun, varianceShareMin * variance) / n)
  const df = (3 * n) / (lagMax + 1)
  return { t, df, pValue: studentTwoSidedP(t, df) }
}

/** Of steps without a mean. */
function autocovariance(steps: Float64Array, lag: number): number {
  let sum = 0
  for (let i = lag; i < steps.length; i++) sum += (steps[i] as number) * (steps[i - lag] as number)
  return sum / steps.length
}
