/** Reads what is asked of the latest readings: how many hours, and of which devices. */

const hoursMax = 72
export const devicesMax = 500

/** A whole number from 1 to 72, in plain digits. */
export function readHours(text: string): number | undefined {
  if (!/^[1-9]\d?$/.test(text)) return undefined
  const hours = Number(text)
  return hours <= hoursMax ? hours : undefined
}

export type ReadDevices<T> =
  | { readonly ok: true; readonly devices: T[] }
  | { readonly ok: false; readonly code: 'DEVICES_INVALID' | 'DEVICE_UNKNOWN' }

/**
 * `a,b`, or the parameter given several times. A name may hold a comma itself, so a value that is the name of a device
 * is taken for that device. Those that do not log are known but have no place in the answer.
 */
export function readDevices<T extends { name: string; log_switch: boolean }>(
  value: string | string[],
  get: (name: string) => T | undefined,
): ReadDevices<T> {
  const values = typeof value === 'string' ? [value] : value
  const names = new Set(values.flatMap(value => (get(value) === undefined ? value.split(',') : [value])))
  if (names.has('') || names.size > devicesMax) return { ok: false, code: 'DEVICES_INVALID' }
  const found = new Set<T>()
  for (const name of names) {
    const device = get(name)
    if (device === undefined) return { ok: false, code: 'DEVICE_UNKNOWN' }
    if (device.log_switch) found.add(device)
  }
  return { ok: true, devices: [...found].sort((a, b) => (a.name < b.name ? -1 : 1)) }
}
