/** Reads the parameter `devices` and bounds the number of arguments. */

/** Django's default for fields of a request (DATA_UPLOAD_MAX_NUMBER_FIELDS). */
export const argumentsMax = 1_000

/** Takes an address as sent. Counting is cheaper than parsing. */
export function hasTooManyArguments(url: string): boolean {
  let count = 1
  for (let at = url.indexOf('&'); at >= 0 && count <= argumentsMax; at = url.indexOf('&', at + 1)) count++
  return count > argumentsMax
}

/** Limit of the parameter `devices`, which narrows an answer. */
export const devicesMax = 500

export type ReadDevices<T> =
  | { readonly ok: true; readonly devices: T[] }
  | { readonly ok: false; readonly code: 'DEVICES_INVALID' | 'DEVICE_UNKNOWN' }

/** `a,b`, or a repeated parameter. A name may have a comma, so a value that equals a device's name is that device. */
export function readDevices<T extends { name: string }>(
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
    found.add(device)
  }
  return { ok: true, devices: [...found].sort((a, b) => (a.name < b.name ? -1 : 1)) }
}
