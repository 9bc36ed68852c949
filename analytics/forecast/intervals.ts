/**
 * How far a forecast may be off, from its own errors: their spread by hour ahead, which does not shrink, times the quantiles
 * of the errors divided by it (split conformal prediction: Lei et al. 2018, with its correction for few errors).
 */

import { horizonHours } from './history.ts'

export interface Spread {
  /** By hour ahead. */
  readonly deviations: Float64Array
  /** Of the divided errors, ascending. */
  readonly sorted: Float64Array
}

/** Hours on either side that a squared error is averaged over. */
const smoothHours = 2

/** `errors`: by origin and hour ahead, NaN where there is none. */
export function spreadOfErrors(errors: readonly Float64Array[]): Spread {
  const deviations = new Float64Array(horizonHours)
  let largest = 0
  for (let hour = 0; hour < horizonHours; hour++) {
    largest = Math.max(largest, meanSquareAround(errors, hour))
    deviations[hour] = Math.sqrt(largest)
  }
  const divided: number[] = []
  for (const ofOrigin of errors) {
    for (let hour = 0; hour < horizonHours; hour++) {
      const error = ofOrigin[hour] as number
      if (!Number.isNaN(error) && (deviations[hour] as number) > 0) divided.push(error / (deviations[hour] as number))
    }
  }
  return { deviations, sorted: Float64Array.from(divided).sort() }
}

/** What to add to a forecast so far ahead, that the interval holds this share. The forecast itself is inside. */
export function intervalAt({ deviations, sorted }: Spread, hour: number, share: number): [number, number] {
  const deviation = deviations[hour] as number
  const tail = (1 - share) / 2
  const count = sorted.length
  if (count === 0) return [0, 0]
  const below = Math.max(0, Math.floor(tail * (count + 1)) - 1)
  const above = Math.min(count - 1, Math.ceil((1 - tail) * (count + 1)) - 1)
  return [Math.min(0, (sorted[below] as number) * deviation), Math.max(0, (sorted[above] as number) * deviation)]
}

function meanSquareAround(errors: readonly Float64Array[], hour: number): number {
  let sum = 0
  let count = 0
  for (const ofOrigin of errors) {
    for (let near = Math.max(0, hour - smoothHours); near <= Math.min(horizonHours - 1, hour + smoothHours); near++) {
      const error = ofOrigin[near] as number
      if (Number.isNaN(error)) continue
      sum += error * error
      count++
    }
  }
  return count === 0 ? 0 : sum / count
}
