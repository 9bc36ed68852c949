/** The devices of the fleet in memory: pages of the list and events come in, in any order, and the newest word stays. */

import type { ReadingEvent } from '../../../query/live/events/event-shape.ts'
import type { Fleet, FleetDevice, FleetTrends } from '../../../query/live/fleet-shape.ts'
import { type DeviceState, deviceStates, isNumberOfState } from '../../text/kind-words.ts'
import type { Descriptions } from '../../text/quantities.ts'

export type Counts = Fleet['counts']

export class FleetDevices {
  #byName = new Map<string, FleetDevice>()

  get size(): number {
    return this.#byName.size
  }

  list(): FleetDevice[] {
    return [...this.#byName.values()]
  }

  get(name: string): FleetDevice | undefined {
    return this.#byName.get(name)
  }

  /** Replaces a page of the list and keeps later readings from events. */
  take(devices: readonly FleetDevice[]): void {
    for (const device of devices) this.#byName.set(device.device, newer(this.#byName.get(device.device), device))
  }

  /** The whole list: who is not on it is gone. */
  replace(devices: readonly FleetDevice[]): void {
    const before = this.#byName
    this.#byName = new Map(devices.map(device => [device.device, newer(before.get(device.device), device)]))
  }

  /** False for a device that is not known, as one that is new. */
  takeReading({ device: name, ts, values }: ReadingEvent['data']): boolean {
    const device = this.#byName.get(name)
    if (device === undefined) return false
    if (device.last_seen !== null && ts < device.last_seen) return true
    this.#byName.set(name, { ...device, last_seen: ts, values: withNewer(device.values, values) })
    return true
  }

  takeState(name: string, state: DeviceState): boolean {
    const device = this.#byName.get(name)
    if (device === undefined) return false
    if (device.state !== state) this.#byName.set(name, { ...device, state })
    return true
  }

  counts(): Counts {
    const counts = Object.fromEntries(deviceStates.map(state => [state, 0])) as Counts
    for (const { state } of this.#byName.values()) counts[state]++
    return counts
  }
}

export function totalOf(counts: Counts): number {
  return deviceStates.reduce((sum, state) => sum + counts[state], 0)
}

/** A list may have been made before the event that came while it was on its way. */
function newer(known: FleetDevice | undefined, listed: FleetDevice): FleetDevice {
  if (known?.last_seen == null || known.last_seen <= (listed.last_seen ?? 0)) return listed
  return { ...listed, state: known.state, last_seen: known.last_seen, values: withNewer(listed.values, known.values) }
}

/** The maximum of values per device in the list. */
const valuesMax = 6

/** A metric without a newer value keeps its value. Metrics beyond the list's maximum are unknown. */
function withNewer(values: FleetDevice['values'], newer: ReadingEvent['data']['values']): FleetDevice['values'] {
  const merged = { ...values }
  let count = Object.keys(merged).length
  for (const [name, value] of Object.entries(newer)) {
    const isKnown = Object.hasOwn(merged, name)
    if (!isKnown && count === valuesMax) continue
    if (!isKnown) count++
    merged[name] = value
  }
  return merged
}

/** States with values other than 0 and 1 on any device, so that all rows use the same names. */
export function numberedStates(devices: readonly FleetDevice[], described: Descriptions): string[] {
  const states = Object.keys(described).filter(name => described[name]?.kind === 'state')
  return states.filter(name => devices.some(({ values }) => isNumberOfState(values[name] ?? 0)))
}

export type DeviceTrend = FleetTrends['devices'][number]
/** Keys are names of devices. */
export type KnownTrends = ReadonlyMap<string, DeviceTrend>

/** The service's maximum per request, in a URL that all proxies accept. */
const devicesMax = 100
const lengthMax = 6_000
/** Rows that were on the screen before have theirs when they are there again. */
const keptMax = 2_000

/** The request for these rows, equal in any order; undefined where all devices have never reported. */
export function trendsPath(rows: readonly Pick<FleetDevice, 'device' | 'last_seen'>[]): string | undefined {
  const names = rows.filter(({ last_seen }) => last_seen !== null).slice(0, devicesMax)
  let path = '/api/fleet/trends?'
  for (const name of names.map(({ device }) => device).sort()) {
    const more = `device=${encodeURIComponent(name)}&`
    if (path.length + more.length <= lengthMax) path += more
  }
  return path.endsWith('?') ? undefined : path.slice(0, -1)
}

/** The newest last: of too many, the oldest ones are left out. */
export function withNewerTrends(known: KnownTrends, newer: readonly DeviceTrend[]): KnownTrends {
  const merged = new Map(known)
  for (const trend of newer) {
    merged.delete(trend.device)
    merged.set(trend.device, trend)
  }
  return new Map([...merged].slice(-keptMax))
}
