/** Says which points of a range are not shown: those in a unit that does not become the shown one. */

import type { StationUnits } from '../../../query/shapes/station.ts'
import { signOf } from '../../../store/metrics/units.ts'
import { countOf } from '../../text/numbers.ts'
import { listed } from '../../text/phrases.ts'
import type { Quantities } from '../../text/quantities.ts'

/** Empty where all are shown. */
export function leftOutSentences({ units }: StationUnits, quantities: Quantities): string[] {
  const parts = Object.entries(units).flatMap(([parameter, { unit, left_out }]) => {
    const points = Object.entries(left_out).map(([other, count]) => `${countOf(count, 'point')} in ${signOf(other)}`)
    if (points.length === 0) return []
    return [`${quantities.of(parameter).name}: ${listed(points)}, while ${signOf(unit)} is shown.`]
  })
  if (parts.length === 0) return []
  return [
    'Points in a unit that cannot be converted to the shown one are left out: between a mixing ratio and a mass concentration, that takes the temperature and the pressure of the air.',
    ...parts,
  ]
}
