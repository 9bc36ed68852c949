/** A straight line by least squares over the observed cells, equal to `scipy.signal.detrend` on complete data. */

import { centredProducts } from '../correlation/centred-products.ts'
import { hourOfDayRemoved } from './deseasonalise.ts'

export interface Detrended {
  /** Change of the line from one cell to the next; NaN with fewer than two observed cells. */
  readonly slopePerCell: number
  /** The series minus the line, NaN where missing. */
  readonly residual: Float64Array
}

/** Values minus the line through them, at their own times; none may be missing. */
export function detrendAtTimes(times: Float64Array, values: Float64Array): Float64Array {
  const { xMean, yMean, xx, xy } = centredProducts(times, values)
  const slope = xx > 0 ? xy / xx : 0
  return values.map((value, place) => value - yMean - slope * ((times[place] as number) - xMean))
}

/** `values`: cells in order, NaN where missing. `residual`: the output array, which may be `values`. */
export function detrend(values: Float64Array, residual: Float64Array = new Float64Array(values.length)): Detrended {
  let observed = 0
  let valueSum = 0
  let cellSum = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    if (Number.isNaN(value)) continue
    valueSum += value
    cellSum += i
    observed++
  }
  // Both are centred first: 1013 ± 0.3 hPa over 40,000 cells would lose its digits in plain sums.
  const valueMean = valueSum / observed
  const cellMean = cellSum / observed
  let products = 0
  let squares = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    if (Number.isNaN(value)) continue
    products += (i - cellMean) * (value - valueMean)
    squares += (i - cellMean) * (i - cellMean)
  }
  const slopePerCell = products / squares
  for (let i = 0; i < values.length; i++) {
    residual[i] = (values[i] as number) - valueMean - slopePerCell * (i - cellMean)
  }
  return { slopePerCell, residual }
}

/**
 * The line beside a daily cycle: least squares of a slope and of a level for each local hour of day together, as the
 * regression of the values without their means by hour on the times without theirs (Frisch and Waugh 1933). Without an
 * hour of day that occurs twice, the slope is NaN.
 */
export function detrendBesideDay(values: Float64Array, localHours: Uint8Array): Detrended {
  const residual = hourOfDayRemoved(values, localHours)
  const cells = values.map((value, cell) => (Number.isNaN(value) ? value : cell))
  const times = hourOfDayRemoved(cells, localHours)
  let products = 0
  let squares = 0
  for (const [cell, time] of times.entries()) {
    if (Number.isNaN(time)) continue
    products += time * (residual[cell] as number)
    squares += time * time
  }
  const slopePerCell = products / squares
  for (const [cell, time] of times.entries()) residual[cell] = (residual[cell] as number) - slopePerCell * time
  return { slopePerCell, residual }
}
