/** The reader with a view's link: it reads the view's devices as far as the link's owner may, and no stations. */

import type { Device } from '../../auth/devices/device.ts'
import { createScopeCheck, type DeviceScope } from '../../auth/devices/selector.ts'
import { createTagMatcher } from '../../auth/devices/tag.ts'
import type { LiveLink } from '../../auth/views/link.ts'
import type { Panel, PanelKind } from '../../auth/views/panel.ts'
import { viewAddressIn } from '../../auth/views/view-address.ts'
import { type Fleet, namedFleet, type ReadableDevices, type Reader } from './readers.ts'

/** `scope` is the owner's present scope. */
export function viewReader(
  devices: ReadableDevices,
  scope: DeviceScope,
  { address, devices: numbers, panels = null }: Pick<LiveLink, 'address' | 'devices'> & Partial<LiveLink>,
): Reader {
  const refused = { refusal: 'DEVICE_MISMATCH', readsStations: false } as const
  if (numbers === null) {
    // For a view of a fleet, a single device is readable only through its row in the list.
    return { ...refused, device: () => undefined, ...fleetOfView(devices, scope, address) }
  }
  const isInScope = createScopeCheck(scope)
  function device(name: string): Device | undefined {
    const found = devices.get(name)
    return found !== undefined && numbers?.includes(found.number) && isInScope(found) ? found : undefined
  }
  if (panels === null) return { ...refused, device, fleet: undefined }
  return {
    ...refused,
    device,
    fleet: fleetOfPanels(devices, scope, panels, ['list', 'findings']),
    mapped: fleetOfPanels(devices, scope, panels, ['map']) ?? null,
  }
}

/** Devices with the view's tags and search. States change by the minute and only filter the shown rows. */
function fleetOfView(
  devices: ReadableDevices,
  scope: DeviceScope,
  address: string,
): Pick<Reader, 'fleet' | 'mapped' | 'listed'> {
  const fields = viewAddressIn(address)?.arguments ?? new URLSearchParams()
  const { fleet, has } = selected(devices, scope, { tags: fields.getAll('tag'), search: fields.get('q') ?? '' })
  if (fields.get('show') === 'map') return { fleet, listed: () => undefined }
  return {
    fleet,
    mapped: null,
    listed(name) {
      const device = devices.get(name)
      return device !== undefined && has(device) ? device : undefined
    },
  }
}

/** The devices of all panels of these kinds; undefined without such a panel. Findings of named devices need no fleet. */
function fleetOfPanels(
  devices: ReadableDevices,
  scope: DeviceScope,
  panels: readonly Panel[],
  kinds: readonly PanelKind[],
): Fleet | undefined {
  const ofFleet = panels.filter(panel => kinds.includes(panel.kind) && !isOfDevices(panel))
  const [first, ...others] = ofFleet.map(panel => {
    const { tags, search } = panel.kind === 'findings' ? { tags: [], search: '' } : panel
    return selected(devices, scope, { tags, search }).fleet
  })
  if (first === undefined || others.length === 0) return first
  const all = new Set([first, ...others].flatMap(fleet => fleet.all()))
  return namedFleet(
    scope,
    [...all].sort((a, b) => (a.name < b.name ? -1 : 1)),
  )
}

function isOfDevices({ kind, devices }: Panel): boolean {
  return kind === 'findings' && devices.length > 0
}

function selected(
  devices: ReadableDevices,
  { owner, tags = [] }: DeviceScope,
  selection: { tags: readonly string[]; search: string },
): { fleet: Fleet; has: (device: Device) => boolean } {
  const wanted = [...new Set([...tags, ...selection.tags])]
  const scope = { owner, tags: wanted }
  const search = selection.search.trim().toLowerCase()
  const found = (list: readonly Device[]) => (search === '' ? list : list.filter(device => hasText(device, search)))
  const lists = () => devices.tagged(wanted, owner)
  const all = () => found(lists().all)
  const isInScope = createScopeCheck(scope)
  return {
    fleet: {
      scope,
      named: search === '' ? undefined : all(),
      all,
      active: () => found(lists().active),
      tagged: more => all().filter(createTagMatcher(more)),
    },
    has: device => isInScope(device) && hasText(device, search),
  }
}

/** Matches like the page's search. */
function hasText({ name, location_short }: Device, search: string): boolean {
  return name.toLowerCase().includes(search) || location_short.toLowerCase().includes(search)
}
