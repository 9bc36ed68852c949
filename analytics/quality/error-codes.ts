/**
 * Numbers that sensors send in place of a value: −200, −999 and −9999 of stations and loggers, 65535 and 32767 of
 * silent registers, 85 °C of a DS18B20 after its start, 127 of a missing one. A code is an error where it stands alone:
 * at most a tenth of the values are codes, and it is outside the middle 98 % of the others by more than a third of
 * their width.
 */

import { quantilesInPlace } from '../summary/quantile.ts'

const codes: ReadonlySet<number> = new Set([-200, -999, -9999, 65_535, 32_767, 85, 127])
const shareMax = 0.1
const countMin = 10
/** Share of the distance between the 1 and the 99 % quantile. */
export const widthShare = 1 / 3

/** The indexes of error codes among values without NaN, ascending. */
export function errorPlaces(values: Float64Array): number[] {
  const places: number[] = []
  for (let place = 0; place < values.length; place++) if (codes.has(values[place] as number)) places.push(place)
  if (places.length === 0 || places.length > shareMax * values.length || values.length < countMin) return []
  const others = values.filter(value => !codes.has(value))
  const [low, high] = quantilesInPlace(others, [0.01, 0.99]) as [number, number]
  const beyond = widthShare * (high - low)
  return places.filter(place => (values[place] as number) < low - beyond || (values[place] as number) > high + beyond)
}

/** Replaces errors by NaN; returns the same array without errors. NaN is a missing value. */
export function withoutErrors(values: Float64Array): Float64Array {
  if (!values.some(value => codes.has(value))) return values
  const present = values.filter(value => !Number.isNaN(value))
  const errors = new Set(errorPlaces(present).map(place => present[place] as number))
  return values.map(value => (errors.has(value) ? Number.NaN : value))
}
