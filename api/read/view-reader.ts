/** The reader with a view's link: it reads the view's devices as far as the link's owner may, and no stations. */

import type { Device } from '../../auth/devices/device.ts'
import { createScopeCheck, type DeviceScope } from '../../auth/devices/device-scope.ts'
import { createTagMatcher } from '../../auth/devices/tag.ts'
import type { LiveLink } from '../../auth/views/link.ts'
import { viewAddressIn } from '../../auth/views/view-address.ts'
import type { ReadableDevices, Reader } from './readers.ts'

/** `scope` is the owner's present scope. */
export function viewReader(
  devices: ReadableDevices,
  scope: DeviceScope,
  { address, devices: numbers }: Pick<LiveLink, 'address' | 'devices'>,
): Reader {
  const refused = { refusal: 'DEVICE_MISMATCH', readsStations: false } as const
  if (numbers === null) {
    // For a view of a fleet, a single device is readable only through its row in the list.
    return { ...refused, device: () => undefined, ...fleetOfView(devices, scope, address) }
  }
  const isInScope = createScopeCheck(scope)
  return {
    ...refused,
    device(name) {
      const device = devices.get(name)
      return device !== undefined && numbers.includes(device.number) && isInScope(device) ? device : undefined
    },
    fleet: undefined,
  }
}

/** Devices with the view's tags and search. States change by the minute and only filter the shown rows. */
function fleetOfView(
  devices: ReadableDevices,
  { owner, tags = [] }: DeviceScope,
  address: string,
): Pick<Reader, 'fleet' | 'listed'> {
  const fields = viewAddressIn(address)?.arguments ?? new URLSearchParams()
  const wanted = [...new Set([...tags, ...fields.getAll('tag')])]
  const scope = { owner, tags: wanted }
  const search = (fields.get('q') ?? '').trim().toLowerCase()
  const isMap = fields.get('show') === 'map'
  const found = (list: readonly Device[]) => (search === '' ? list : list.filter(device => hasText(device, search)))
  const lists = () => devices.tagged(wanted, owner)
  const all = () => found(lists().all)
  const isInScope = createScopeCheck(scope)
  return {
    fleet: {
      scope,
      named: search === '' ? undefined : all(),
      hidesPlaces: !isMap,
      all,
      active: () => found(lists().active),
      tagged: more => all().filter(createTagMatcher(more)),
    },
    listed(name) {
      const device = isMap ? undefined : devices.get(name)
      return device !== undefined && isInScope(device) && hasText(device, search) ? device : undefined
    },
  }
}

/** Matches like the page's search. */
function hasText({ name, location_short }: Device, search: string): boolean {
  return name.toLowerCase().includes(search) || location_short.toLowerCase().includes(search)
}
