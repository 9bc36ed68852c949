/**
 * Fills the gaps of hourly means, for decompositions that need a complete series. The mean of every local hour of the
 * day is taken off, what is left is interpolated linearly (beyond the ends the nearest value holds), and the mean is
 * put back: a gap over noon gets a noon, not a straight line. Reference: pandas `groupby(hour).mean()` and
 * `numpy.interp`.
 */

import { hourOfDayMeans } from '../decomposition/deseasonalise.ts'

/**
 * A complete copy in the unit of the input; `hours` are the local hours 0 … 23 of the cells. An hour of the day that
 * was never observed lies linearly between its neighbours round the clock. Throws a RangeError when nothing was
 * observed.
 */
export function fillGaps(cells: Float64Array, hours: Uint8Array): Float64Array {
  const profile = closeRound(hourOfDayMeans(cells, hours))
  const filled = cells.map((value, cell) => value - (profile[hours[cell] as number] as number))
  bridgeGaps(filled)
  for (let cell = 0; cell < cells.length; cell++) {
    const value = cells[cell] as number
    // An observed cell is given back as it was, without what subtracting and adding would cost it.
    filled[cell] = Number.isNaN(value) ? (filled[cell] as number) + (profile[hours[cell] as number] as number) : value
  }
  return filled
}

/** Fills what is missing in place: on a straight line between its neighbours, beyond the ends with the nearest value. */
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

/** Of this many usual intervals. */
const bridgedIntervals = 2.5

/** A copy without the empty hours between values of a device slower than an hour; that of a faster one as it is. */
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
 * Interpolates three days of a profile in a row, so that the gap over midnight closes, and keeps the middle one. Throws a
 * RangeError when nothing was observed.
 */
export function closeRound(profile: Float64Array): Float64Array {
  if (profile.every(Number.isNaN)) throw new RangeError('no cell was observed')
  const days = new Float64Array(3 * profile.length)
  for (let day = 0; day < 3; day++) days.set(profile, day * profile.length)
  bridgeGaps(days)
  return days.slice(profile.length, 2 * profile.length)
}
