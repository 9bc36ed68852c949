/** Inputs of a profile's figures: hours of a range, and values that hold for a while. */

import { type Reason, reasons } from '../reasons.ts'

/** Means of the hours of a range, NaN where missing. */
export interface AirHours {
  /** The unit is °C. */
  readonly temperature: Float64Array
  /** Relative humidity in %. */
  readonly humidity: Float64Array
  /** Pressure at the device, in hPa. */
  readonly pressure: Float64Array
  /** The unit is °C. */
  readonly outdoorTemperature: Float64Array
}

/** Cells of a day in the range. The end is not included. */
export interface CellRange {
  readonly from: number
  readonly to: number
}

/** Numbers are null exactly where a reason is set. */
export interface Reasoned {
  readonly reason: Reason | null
}

export interface HoursFigure extends Reasoned {
  readonly observed_hours: number
  /** Hours that meet the condition. */
  readonly hours: number | null
}

export interface SpreadFigure extends Reasoned {
  readonly unit: string
  readonly observed_hours: number
  readonly mean: number | null
  readonly min: number | null
  readonly max: number | null
}

/** Includes the time outside of a range. A value at its end is inside. All four are null without a range. */
export interface BandFigure extends SpreadFigure {
  readonly below: number | null
  readonly above: number | null
  readonly hours_below: number | null
  readonly hours_above: number | null
}

export interface Band {
  readonly unit: string
  readonly below: number
  readonly above: number
}

/** Values with the hours for which each holds, by default one. NaN where missing. */
export interface HeldValues {
  readonly values: Float64Array
  readonly hours?: Float64Array
}

export function hoursFigure(values: Float64Array, isMet: (value: number) => boolean): HoursFigure {
  let observed = 0
  let hours = 0
  for (const value of values) {
    if (Number.isNaN(value)) continue
    observed++
    if (isMet(value)) hours++
  }
  const reason = observed === 0 ? reasons.noHours : null
  return { reason, observed_hours: observed, hours: reason === null ? hours : null }
}

export function spreadFigure(
  held: HeldValues,
  unit: string,
  lack: Reason = reasons.noHours,
): SpreadFigure & { unit: string } {
  const { observed, mean, min, max } = sumsOf(held, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
  if (observed === 0) return { reason: lack, unit, observed_hours: 0, mean: null, min: null, max: null }
  return { reason: null, unit, observed_hours: observed, mean, min, max }
}

export function bandFigure(held: HeldValues, { unit, below, above }: Band, lack?: Reason): BandFigure {
  const spread = spreadFigure(held, unit, lack)
  const { hoursBelow, hoursAbove } = sumsOf(held, below, above)
  const isNone = spread.reason !== null
  return { ...spread, below, above, hours_below: isNone ? null : hoursBelow, hours_above: isNone ? null : hoursAbove }
}

function sumsOf({ values, hours }: HeldValues, below: number, above: number) {
  const sums = { observed: 0, hoursBelow: 0, hoursAbove: 0, min: Number.POSITIVE_INFINITY, max: -Infinity }
  let first = Number.NaN
  let distances = 0
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    const held = hours === undefined ? 1 : (hours[at] as number)
    if (Number.isNaN(value) || held <= 0) continue
    if (Number.isNaN(first)) first = value
    sums.observed += held
    // Distances from the first value keep the digits of the mean.
    distances += held * (value - first)
    if (value < below) sums.hoursBelow += held
    if (value > above) sums.hoursAbove += held
    sums.min = Math.min(sums.min, value)
    sums.max = Math.max(sums.max, value)
  }
  return { ...sums, mean: first + distances / sums.observed }
}

/** Computes a value for each hour from two quantities. */
export function byHour(
  a: Float64Array,
  b: Float64Array,
  derive: (a: number, b: number, hour: number) => number,
): Float64Array {
  return a.map((value, hour) => derive(value, b[hour] as number, hour))
}

export function hoursBetween(hours: AirHours, { from, to }: CellRange): AirHours {
  return {
    temperature: hours.temperature.subarray(from, to),
    humidity: hours.humidity.subarray(from, to),
    pressure: hours.pressure.subarray(from, to),
    outdoorTemperature: hours.outdoorTemperature.subarray(from, to),
  }
}
