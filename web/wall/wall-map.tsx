/** The map of a view of the fleet, as large as there is room and without anything to press. */

import { useSize } from '../client/screen.ts'
import { FleetMap, type FleetMapProps } from '../map/fleet-map.tsx'
import { wallScale } from './wall-frame.tsx'

export function WallMap({ filter, changes }: Omit<FleetMapProps, 'isStill'>) {
  const { place, size } = useSize()
  return (
    <div class="wall-map" ref={place}>
      {size.width === 0 ? null : (
        <div style={{ zoom: String(wallScale(size.width)) }}>
          <FleetMap filter={filter} changes={changes} isStill={true} />
        </div>
      )}
    </div>
  )
}
