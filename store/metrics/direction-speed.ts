/** Pairs a direction with its speed by name: `wind_direction` with `wind_speed`. */

import type { Metric } from './metric.ts'
import { conversion } from './units.ts'

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
