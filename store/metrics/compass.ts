/** Directions: points of the compass as degrees (`NNE` is 22.5), and the speed that belongs to a direction. */

import type { Metric } from './metric.ts'
import { conversion } from './units.ts'

const points = [
  ...['N', 'NbE', 'NNE', 'NEbN', 'NE', 'NEbE', 'ENE', 'EbN', 'E', 'EbS', 'ESE', 'SEbE', 'SE', 'SEbS', 'SSE', 'SbE'],
  ...['S', 'SbW', 'SSW', 'SWbS', 'SW', 'SWbW', 'WSW', 'WbS', 'W', 'WbN', 'WNW', 'NWbW', 'NW', 'NWbN', 'NNW', 'NbW'],
]
const degreesOf = new Map(points.map((point, index) => [point.toLowerCase(), (index * 360) / points.length]))
const letters = { north: 'n', east: 'e', south: 's', west: 'w', by: 'b' }
/** A calm and a variable wind have no direction. */
const withoutDirection = new Set(['calm', 'vrb', 'variable'])
const textLengthMax = 'north-north-east by north'.length

export const ambiguousDirection = Symbol('a direction that depends on the language')
export const ambiguousDirectionReason = 'has an O, which is east in some languages and west in others; write E or W'

/**
 * Degrees of one of the 32 points, as letters or English words; NaN for a wind without a direction. `ambiguousDirection` for
 * letters that include an O; undefined for any other text.
 */
export function compassDegrees(text: string): number | typeof ambiguousDirection | undefined {
  if (text.length > textLengthMax) return undefined
  let point = text.toLowerCase().replace(/[\s_-]/g, '')
  if (withoutDirection.has(point)) return Number.NaN
  for (const [word, letter] of Object.entries(letters)) point = point.replaceAll(word, letter)
  const degrees = degreesOf.get(point)
  if (degrees !== undefined) return degrees
  return /^[nsweo]{1,3}$/.test(point) && point.includes('o') ? ambiguousDirection : undefined
}

const directionEnd = '_direction'
const speedEnd = '_speed'
/** WMO-No. 8 calls wind below this calm. */
const calmMetresPerSecond = 0.5

/** Name of the speed that belongs to this direction. Undefined for other names. */
export function speedOfDirection(name: string): string | undefined {
  return name.endsWith(directionEnd) ? name.slice(0, -directionEnd.length) + speedEnd : undefined
}

/** Threshold below which a speed is calm, in its own unit. Null where the unit is missing or does not measure a speed. */
export function calmSpeed({ unit }: Pick<Metric, 'unit'>): number | null {
  if (unit === null) return null
  const converted = conversion('m/s', unit)
  return converted.ok ? converted.convert(calmMetresPerSecond) : null
}
