/** Declares parameters of several families and bounds the number of arguments. */

import { z } from 'zod'

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

// Forms of times for the contract. ingest/formats/time-text.ts parses them.
const date = z.regexes.date.source.slice(1, -1).replaceAll('\\d', '[0-9]')
const clock = '(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\\.[0-9]{1,9})?)?'
const zone = '(?:[Zz]|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)'

/** A date alone, or a time with or without a zone. */
export const timeTextForm = `^${date}(?:[Tt ]${clock}${zone}?)?$`

/** A time with a zone, or milliseconds. */
export const momentForm = `^(?:[0-9]{1,13}|${date}[Tt ]${clock}${zone})$`
