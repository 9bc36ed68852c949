/** Which devices an answer about the fleet is of. */

import type { Device } from '../../../auth/devices/device.ts'
import { type Fleet, isWhole } from '../readers.ts'

/** Undefined: all that there are. Those of somebody who may not read all cost as much as there are devices for them. */
export function listedOf(fleet: Fleet, tags: readonly string[]): readonly Device[] | undefined {
  if (tags.length > 0) return fleet.tagged(tags)
  return isWhole(fleet) ? undefined : fleet.all()
}
