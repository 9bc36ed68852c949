/** Filters, tags and order of the fleet from the arguments of the address, and the same for requests. */

import type { FleetDevice } from '../../../query/live/fleet-shape.ts'
import { selectionMax } from '../../parts/selection.ts'
import { type DeviceState, deviceStates } from '../../text/kind-words.ts'
import { type FleetColumns, valueColumns } from './fleet-columns.ts'

/** Keys of every list; `state` sorts worst first. */
const sortKeys = ['state', 'device', 'place', 'age', ...valueColumns] as const
/** A metric without a column by its name, which may also be a word of the others. */
const customKey = /^metric\.([a-z][a-z0-9_]{0,47})$/
const groupKey = /^[a-z][a-z0-9_]{0,31}$/
export type SortKey = (typeof sortKeys)[number] | `metric.${string}`

export interface FleetView {
  search: string
  /** Empty: all states. */
  states: readonly DeviceState[]
  sort: SortKey
  isDescending: boolean
  /** The key of the tags by which they stand in groups. */
  group: string | undefined
  /** A map instead of the list. */
  isMap: boolean
}

/** An argument that says nothing that we know is as if it were not there. */
export function readView(urlArguments: URLSearchParams): FleetView {
  const sort = urlArguments.get('sort') ?? ''
  const key = sort.replace(/^-/, '')
  const isKnown = isSortKey(key)
  const states = (urlArguments.get('state') ?? '').split(',')
  const group = urlArguments.get('group') ?? ''
  return {
    search: urlArguments.get('q') ?? '',
    states: deviceStates.filter(state => states.includes(state)),
    sort: isKnown ? key : 'state',
    isDescending: isKnown && sort.startsWith('-'),
    group: groupKey.test(group) ? group : undefined,
    isMap: urlArguments.get('show') === 'map',
  }
}

function isSortKey(key: string): key is SortKey {
  return sortKeys.some(known => known === key) || customKey.test(key)
}

/** Keys that this list can be sorted by, with their names. */
export function offeredKeys({ values }: FleetColumns, custom: readonly string[], sort: SortKey): SortKey[] {
  const keys: SortKey[] = [
    'state',
    'device',
    'place',
    'age',
    ...values,
    ...custom.map(name => `metric.${name}` as const),
  ]
  return keys.includes(sort) ? keys : [...keys, sort]
}

/** The metric that a key stands for where it has no column. */
export function customOf(key: SortKey): string | undefined {
  return customKey.exec(key)?.[1]
}

/** The arguments after a change. Defaults are left out of the address. */
export function viewArguments(change: Partial<FleetView>, view: FleetView): Record<string, string> {
  const { search, states, sort, isDescending, group = '', isMap } = { ...view, ...change }
  const order = `${isDescending ? '-' : ''}${sort}`
  return { q: search, state: states.join(','), sort: order === 'state' ? '' : order, group, show: isMap ? 'map' : '' }
}

/** The first devices by name of those that the page lists. */
export function matchPath({ search, states }: FleetView, tags: readonly string[]): string {
  const text = search.trim()
  const state = states.length === 0 ? '' : `&state=${states.join(',')}`
  const q = text === '' ? '' : `&q=${encodeURIComponent(text)}`
  return `/api/fleet?order=name&limit=${selectionMax}${state}${q}${tagArguments(tags)}`
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
      return values[customOf(key) ?? key]
  }
}

/** Missing values are last in either direction. */
function compare(a: SortValue, b: SortValue, direction: number): number {
  if (a === b) return 0
  if (a === undefined) return 1
  if (b === undefined) return -1
  return a < b ? -direction : direction
}

/** The service takes no more. */
export const tagsMax = 16
/** The most frequent tags are offered. */
const offeredMax = 500

export function readTags(urlArguments: URLSearchParams): string[] {
  return [...new Set(urlArguments.getAll('tag'))].slice(0, tagsMax)
}

/** Arguments to append to an address or a request. */
export function tagArguments(tags: readonly string[]): string {
  return tags.map(tag => `&tag=${encodeURIComponent(tag)}`).join('')
}

/** Values by key, each with the whole tag. A key with several values can be asked for whatever its value is. */
export function offeredTags(devices: readonly FleetDevice[], chosen: readonly string[]): Map<string, string[]> {
  const counts = new Map<string, number>()
  for (const { tags = [] } of devices) for (const tag of tags) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  const frequent = [...counts].sort(([, a], [, b]) => b - a).slice(0, offeredMax)
  const byKey = Map.groupBy(frequent.map(([tag]) => tag).sort(), keyOf)
  const offered = [...byKey].map(([key, tags]): [string, string[]] => {
    const all = tags.length > 1 ? [`${key}:*`, ...tags] : tags
    return [key, all.filter(tag => !chosen.includes(tag))]
  })
  return new Map(offered.filter(([, tags]) => tags.length > 0))
}

function keyOf(tag: string): string {
  return tag.slice(0, tag.indexOf(':'))
}

/** The service takes no more. */
const searchCharactersMax = 128

export function mapArguments(
  { search, states }: Pick<FleetView, 'search' | 'states'>,
  tags: readonly string[],
): string {
  const text = [...search.trim()].slice(0, searchCharactersMax).join('')
  const q = text === '' ? '' : `&q=${encodeURIComponent(text)}`
  return `${q}${states.length === 0 ? '' : `&state=${states.join()}`}${tagArguments(tags)}`
}

/** Commands for an empty fleet, the same as in the README. They are in no file with more text, which would delay the page. */
export const firstReading = {
  add: 'npx barograph devices add porch --location-short Porch --json',
  /** `origin`: where the service is reached, `http://127.0.0.1:8080`; `$URL` in the README. */
  send: (origin: string) => `curl -u porch:PASSWORD -X PUT -H 'content-type: application/json' \\
  -d '{"device":"porch","temperature":21.4,"humidity":48,"pressure":1013.2}' ${origin}/api/log`,
}
