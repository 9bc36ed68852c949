/** The values of a device that have no column of the table, each by its title. */

import type { FleetDevice } from '../../../query/live/fleet-shape.ts'
import { DirectionArrow } from '../../parts/direction-arrow.tsx'
import { kindText } from '../../text/kind-text.ts'
import { isBuiltIn, type Quantities, type Quantity } from '../../text/quantities.ts'

export function FurtherList({ values, quantities }: { values: FleetDevice['values']; quantities: Quantities }) {
  const further = Object.entries(values).filter(([name]) => !isBuiltIn(name))
  if (further.length === 0) return null
  return (
    <ul>
      {further.map(([name, value]) => (
        <FurtherValue key={name} quantity={quantities.of(name)} value={value as number} />
      ))}
    </ul>
  )
}

function FurtherValue({ quantity, value }: { quantity: Quantity; value: number }) {
  return (
    <li>
      <span class="title">{quantity.name}</span>{' '}
      {quantity.kind === 'direction' ? <DirectionArrow degrees={value} /> : null} {kindText(value, quantity)}
    </li>
  )
}
