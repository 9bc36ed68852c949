/** Differences of each device's days from its own usual ones, by time of day. */

import { median } from 'simple-statistics'

/** Means of six hours. */
export const quartersPerDay = 4
/** The last day is examined, the others define the usual values. */
export const comparedDays = 15
const usualDays = comparedDays - 1
const usualDaysMin = 10

export interface QuarterTable {
  readonly devices: number
  /** Mean of a quarter of a day, 0 to 59, the oldest first; NaN without one. */
  mean(device: number, quarter: number): number
}

export interface DayChanges {
  /** A device's index in the table. */
  readonly device: number
  /** The mean of the last day. */
  readonly value: number
  /**
   * One entry for each day, oldest first: the mean difference of its quarters from their medians; NaN for an incomplete
   * day.
   */
  readonly changes: Float64Array
  /**
   * The quarters of the usual days minus their medians, standardised: the product of two devices' quarters is their
   * correlation. NaN where missing.
   */
  readonly quarters: Float64Array
}

/** Undefined for a device without the whole last day or with fewer than ten whole days before it. */
export function dayChanges(table: QuarterTable, device: number): DayChanges | undefined {
  const means = Float64Array.from({ length: comparedDays * quartersPerDay }, (_, at) => table.mean(device, at))
  const lastDay = means.subarray(usualDays * quartersPerDay)
  if (lastDay.some(Number.isNaN)) return undefined
  let complete = 0
  for (let day = 0; day < usualDays; day++) if (!isNaNDay(means, day)) complete++
  if (complete < usualDaysMin) return undefined
  const value = meanOf(lastDay)
  takeMedians(means)
  const changes = Float64Array.from({ length: comparedDays }, (_, day) => meanOf(dayOf(means, day)))
  return { device, value, changes, quarters: standardised(means.slice(0, usualDays * quartersPerDay)) }
}

function dayOf(means: Float64Array, day: number): Float64Array {
  return means.subarray(day * quartersPerDay, (day + 1) * quartersPerDay)
}

function isNaNDay(means: Float64Array, day: number): boolean {
  return dayOf(means, day).some(Number.isNaN)
}

/** Subtracts from each quarter its median over the usual days. */
function takeMedians(means: Float64Array): void {
  for (let quarter = 0; quarter < quartersPerDay; quarter++) {
    const usual: number[] = []
    for (let day = 0; day < usualDays; day++) {
      const mean = means[day * quartersPerDay + quarter] as number
      if (!Number.isNaN(mean)) usual.push(mean)
    }
    const middle = median(usual)
    for (let at = quarter; at < means.length; at += quartersPerDay) means[at] = (means[at] as number) - middle
  }
}

/** Minus the mean, scaled so that the squares sum to 1; all 0 for a constant. */
function standardised(values: Float64Array): Float64Array {
  const known = values.filter(value => !Number.isNaN(value))
  const mean = meanOf(known)
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const scale = squares > 0 ? 1 / Math.sqrt(squares) : 0
  return values.map(value => (value - mean) * scale)
}

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
