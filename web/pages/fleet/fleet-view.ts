/** Which devices are shown, and in which order: as the arguments of the address say. */

import type { FleetDevice } from '../../../live/fleet-shape.ts'
import { type DeviceState, deviceStates } from '../../client/device-states.ts'

/** What a list can be ordered by; `state` is worst first. */
export const sortKeys = ['state', 'device', 'place', 'age', 'temperature', 'humidity', 'pressure', 'battery'] as const
export type SortKey = (typeof sortKeys)[number]

export interface FleetView {
  search: string
  /** None: all. */
  states: readonly DeviceState[]
  sort: SortKey
  isDescending: boolean
}

/** An argument that says nothing that we know is as if it were not there. */
export function readView(urlArguments: URLSearchParams): FleetView {
  const sort = urlArguments.get('sort') ?? ''
  const key = sort.replace(/^-/, '') as SortKey
  const states = (urlArguments.get('state') ?? '').split(',')
  return {
    search: urlArguments.get('q') ?? '',
    states: deviceStates.filter(state => states.includes(state)),
    sort: sortKeys.includes(key) ? key : 'state',
    isDescending: sortKeys.includes(key) && sort.startsWith('-'),
  }
}

/** The arguments for a change of the view; what is usual is left out of the address. */
export function viewArguments(change: Partial<FleetView>, view: FleetView): Record<string, string> {
  const { search, states, sort, isDescending } = { ...view, ...change }
  const order = `${isDescending ? '-' : ''}${sort}`
  return { q: search, state: states.join(','), sort: order === 'state' ? '' : order }
}

export function shownDevices(devices: readonly FleetDevice[], view: FleetView): FleetDevice[] {
  const text = view.search.trim().toLowerCase()
  const shown = devices.filter(
    device => (view.states.length === 0 || view.states.includes(device.state)) && hasText(device, text),
  )
  const direction = view.isDescending ? -1 : 1
  const keys = new Map(shown.map(device => [device, sortValueOf(device, view.sort)]))
  return shown.sort((a, b) => compare(keys.get(a), keys.get(b), direction) || compare(a.device, b.device, 1))
}

function hasText({ device, location_short }: FleetDevice, text: string): boolean {
  return text === '' || device.toLowerCase().includes(text) || location_short.toLowerCase().includes(text)
}

type SortValue = number | string | undefined

function sortValueOf(device: FleetDevice, key: SortKey): SortValue {
  const { state, last_seen, location_short, values } = device
  switch (key) {
    case 'state':
      return deviceStates.indexOf(state)
    case 'device':
      return device.device
    case 'place':
      return location_short === '' ? undefined : location_short.toLowerCase()
    case 'age':
      return last_seen === null ? undefined : -last_seen
    case 'battery':
      return values.battery_percentage ?? values.battery_voltage
    default:
      return values[key]
  }
}

/** What has no value is last in either direction. */
function compare(a: SortValue, b: SortValue, direction: number): number {
  if (a === b) return 0
  if (a === undefined) return 1
  if (b === undefined) return -1
  return a < b ? -direction : direction
}
