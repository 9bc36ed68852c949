/** The devices that an answer lists, as text that is quick to post to a worker and that a worker reads once. */

import { createHash } from 'node:crypto'

export interface QueryDevice {
  readonly number: number
  /** Its name in QuestDB, generated from `[a-z0-9-]`. */
  readonly symbol: string
  readonly name: string
  readonly location_short: string
}

/** One device of the answer: the beginning of its JSON object, up to and without the first series. */
export interface FleetEntry {
  readonly symbol: string
  readonly name: string
  readonly head: string
}

/** Posting a string is a copy of its bytes; posting a hundred thousand objects would block the main thread. */
export function encodeFleet(devices: readonly QueryDevice[]): string {
  return JSON.stringify(devices.map(device => [device.symbol, device.name, device.location_short]))
}

/** The registry hands out one array until something changes, so its text is written once. */
export function createFleetText<Device extends QueryDevice>(
  encode: (devices: readonly Device[]) => string,
): (devices: readonly Device[]) => string {
  let last: readonly Device[] | undefined
  let text = ''
  return devices => {
    if (devices !== last) {
      text = encode(devices)
      last = devices
    }
    return text
  }
}

/** The most devices that SQL names. With more devices, rows of others are read and skipped. */
export const namedInSqlMax = 500

/** Names a set of devices of any size, for the keys of answers about only these. */
export function createSetKey(): (devices: readonly QueryDevice[]) => string {
  const keys = new WeakMap<readonly QueryDevice[], string>()
  return devices => {
    const known = keys.get(devices)
    if (known !== undefined) return known
    const numbers = Uint32Array.from(devices, ({ number }) => number).sort()
    const key = createHash('sha256').update(numbers).digest('base64url')
    keys.set(devices, key)
    return key
  }
}

/** A worker answers for the same fleet again and again, so the last one is cached. */
export function createFleetReader(): (text: string) => readonly FleetEntry[] {
  let lastText = ''
  let last: readonly FleetEntry[] = []
  return text => {
    if (text !== lastText) {
      const rows: [string, string, string][] = JSON.parse(text)
      last = rows.map(([symbol, name, location]) => ({
        symbol,
        name,
        head: `{"device":${JSON.stringify(name)},"device_loc":${JSON.stringify(location)}`,
      }))
      lastText = text
    }
    return last
  }
}
