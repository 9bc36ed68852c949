/**
 * Fills the gaps of hourly means, for decompositions that need a complete series. The mean of every local hour of the
 * day is subtracted, the remainder is interpolated linearly (beyond the ends the nearest value holds), and the mean is
 * added again: a gap over noon gets a noon instead of a straight line. Reference: pandas `groupby(hour).mean()` and
 * `numpy.interp`.
 */

import { hourOfDayMeans } from '../decomposition/deseasonalise.ts'

/**
 * A complete copy in the unit of the input; `hours` are the local hours 0 … 23 of the cells. A never observed hour of
 * the day is interpolated between its neighbours round the clock. Throws a RangeError without observed cells.
 */
export function fillGaps(cells: Float64Array, hours: Uint8Array): Float64Array {
  const profile = closeRound(hourOfDayMeans(cells, hours))
  const filled = cells.map((value, cell) => value - (profile[hours[cell] as number] as number))
  bridgeGaps(filled)
  for (let cell = 0; cell < cells.length; cell++) {
    const value = cells[cell] as number
    // Observed cells are copied, because subtracting and adding would cost digits.
    filled[cell] = Number.isNaN(value) ? (filled[cell] as number) + (profile[hours[cell] as number] as number) : value
  }
  return filled
}

/**
 * Fills missing values in place: on a straight line between their neighbours, beyond the ends with the nearest value.
 */
export function bridgeGaps(values: Float64Array): void {
  let last = -1
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number
    if (Number.isNaN(value)) continue
    if (last < 0) values.fill(value, 0, index)
    else fillBetween(values, last, index)
    last = index
  }
  values.fill(values[last] as number, last + 1)
}

/**
 * Fills short gaps in place: on a straight line between two values that are at most `apartMax(place)` cells apart, by the place of
 * the earlier one.
 */
export function bridgeShortGaps(values: Float64Array, apartMax: (place: number) => number): void {
  let last = -1
  for (let index = 0; index < values.length; index++) {
    if (Number.isNaN(values[index] as number)) continue
    if (last >= 0 && index - last > 1 && index - last <= apartMax(last)) fillBetween(values, last, index)
    last = index
  }
}

/** The unit is usual intervals. */
const bridgedIntervals = 2.5

/**
 * A copy without the empty hours between values of a device slower than an hour; for a faster one an unmodified copy.
 */
export function bridgedHours(hourly: Float64Array): Float64Array {
  const places = Float64Array.from(hourly.keys()).filter(place => !Number.isNaN(hourly[place]))
  const apart = places
    .subarray(1)
    .map((place, at) => place - (places[at] as number))
    .sort()
  const usual = apart[Math.floor(apart.length / 2)] ?? 1
  const bridged = hourly.slice()
  if (usual > 1) bridgeShortGaps(bridged, () => bridgedIntervals * usual)
  return bridged
}

function fillBetween(values: Float64Array, from: number, to: number): void {
  const start = values[from] as number
  const slope = ((values[to] as number) - start) / (to - from)
  for (let index = from + 1; index < to; index++) values[index] = start + slope * (index - from)
}

/**
 * Interpolates three days of a profile in a row, so that the gap over midnight closes, and keeps the middle one. Throws
 * a RangeError without observed hours.
 */
export function closeRound(profile: Float64Array): Float64Array {
  if (profile.every(Number.isNaN)) throw new RangeError('no observed cells')
  const days = new Float64Array(3 * profile.length)
  for (let day = 0; day < 3; day++) days.set(profile, day * profile.length)
  bridgeGaps(days)
  return days.slice(profile.length, 2 * profile.length)
}
