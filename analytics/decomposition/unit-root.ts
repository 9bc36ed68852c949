/**
 * Tests whether a level returns to a line or wanders: the augmented test of Dickey and Fuller with a line and 30 lags,
 * Δy_t = a + bt + ρ·y_{t−1} + Σ γ_i·Δy_{t−i}, against the 1 % point of MacKinnon (2010). ρ and its error come from the
 * residuals of Δy_t and y_{t−1} on the other terms (Frisch and Waugh 1933).
 */

import { leastSquares } from '../forecast/least-squares.ts'
import { momentsOf } from '../summary/moments.ts'
import { bridgeGaps } from '../time/fill-gaps.ts'

const lags = 30
const valuesMin = 5 * lags

/** True where a random walk is rejected. `values`: in order, NaN where missing. */
export function returnsToLine(values: Float64Array): boolean {
  const { mean, std } = momentsOf(values)
  if (values.length < valuesMin || !(std > 0)) return false
  const level = values.map(value => (value - mean) / std)
  bridgeGaps(level)
  const changes = level.subarray(1).map((value, at) => value - (level[at] as number))
  const count = changes.length - lags
  const terms = [
    new Float64Array(count).fill(1),
    Float64Array.from({ length: count }, (_, at) => (2 * at) / count - 1),
    ...Array.from({ length: lags }, (_, lag) => changes.subarray(lags - 1 - lag, lags - 1 - lag + count)),
  ]
  const change = residualsOf(changes.subarray(lags), terms)
  const before = residualsOf(level.subarray(lags, lags + count), terms)
  const squares = product(before, before)
  const rho = product(change, before) / squares
  const rest = change.map((value, at) => value - rho * (before[at] as number))
  const error = Math.sqrt(product(rest, rest) / (count - terms.length - 1) / squares)
  return rho / error <= criticalValue(count)
}

/** The 1 % point with a constant and a line. */
function criticalValue(count: number): number {
  return -3.95877 - 9.0531 / count - 28.428 / count ** 2
}

function residualsOf(values: Float64Array, terms: readonly Float64Array[]): Float64Array {
  const coefficients = leastSquares(terms, values)
  return values.map((value, at) => {
    return coefficients.reduce((rest, one, term) => rest - one * (terms[term]?.[at] as number), value)
  })
}

function product(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, at) => sum + value * (b[at] as number), 0)
}
