/** Reads that are open to everybody, of made devices. */

import { openReads, type ReadAccess } from '../../api/read/read-access.ts'
import type { Device } from '../../auth/devices/device.ts'
import { createTagMatcher } from '../../auth/devices/tag.ts'

/** Devices in the order of names. A test may leave out parts that it does not read. */
export function openReadsOf(devices: readonly (Pick<Device, 'name'> & Partial<Device>)[]): ReadAccess {
  const made = devices as readonly Device[]
  const active = made.filter(({ log_switch }) => log_switch)
  return openReads({
    get: name => made.find(device => device.name === name),
    all: () => made,
    active: () => active,
    tagged: tags => ({ all: made.filter(createTagMatcher(tags)), active: active.filter(createTagMatcher(tags)) }),
  })
}
