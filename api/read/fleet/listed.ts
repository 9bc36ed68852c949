/** Lists the devices of an answer about the fleet. */

import type { Device } from '../../../auth/devices/device.ts'
import { type Fleet, isWhole } from '../readers.ts'

/** Undefined means all devices. The cost for a restricted reader is proportional to its devices. */
export function listedOf(fleet: Fleet, tags: readonly string[]): readonly Device[] | undefined {
  if (tags.length > 0) return fleet.tagged(tags)
  return isWhole(fleet) ? undefined : fleet.all()
}
