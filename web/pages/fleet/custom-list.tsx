/** The values of a device that have no column of the table, each by its title. */

import type { FleetDevice } from '../../../query/live/fleet-shape.ts'
import { DirectionArrow } from '../../parts/direction-arrow.tsx'
import { kindText } from '../../text/kind-text.ts'
import { isBuiltIn, type Quantities, type Quantity } from '../../text/quantities.ts'

export function CustomList({ values, quantities }: { values: FleetDevice['values']; quantities: Quantities }) {
  const custom = Object.entries(values).filter(([name]) => !isBuiltIn(name))
  if (custom.length === 0) return null
  return (
    <ul>
      {custom.map(([name, value]) => (
        <CustomValue key={name} quantity={quantities.of(name)} value={value as number} />
      ))}
    </ul>
  )
}

function CustomValue({ quantity, value }: { quantity: Quantity; value: number }) {
  return (
    <li>
      <span class="title">{quantity.name}</span>{' '}
      {quantity.kind === 'direction' ? <DirectionArrow degrees={value} /> : null} {kindText(value, quantity)}
    </li>
  )
}
