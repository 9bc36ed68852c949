/** Which speed a direction goes with, by their names: `wind_direction` with `wind_speed`. */

import type { Metric } from './metric.ts'
import { conversion } from './units.ts'

const directionEnd = '_direction'
const speedEnd = '_speed'
/** WMO-No. 8 calls wind below this calm. */
const calmMetresPerSecond = 0.5

/** The name of the speed of the same thing; undefined for a name that is no direction's. */
export function speedOfDirection(name: string): string | undefined {
  return name.endsWith(directionEnd) ? name.slice(0, -directionEnd.length) + speedEnd : undefined
}

/** Below which a speed is calm, in its own unit; null where it has none, or none of a speed. */
export function calmSpeed({ unit }: Pick<Metric, 'unit'>): number | null {
  if (unit === null) return null
  const converted = conversion('m/s', unit)
  return converted.ok ? converted.convert(calmMetresPerSecond) : null
}
