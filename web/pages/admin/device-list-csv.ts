/** A list of devices as CSV (RFC 4180): names, places, and the other fields that the admin API accepts of a new device. */

import type { DeviceSetting } from '../../../auth/devices/device.ts'
import { t } from '../../words/words.ts'
import { type DeviceField, deviceFields } from './device-fields.ts'

interface ListedDevice {
  name: string
  [field: string]: string | boolean | number | string[]
}

export type DeviceList = { ok: true; devices: ListedDevice[] } | { ok: false; sentence: string }

/** The service's maximum per request. */
const devicesMax = 10_000
const listCharactersMax = 8 * 1024 * 1024

/** Columns by kind, with two that only lists have. Other kinds are texts. */
const kinds: Readonly<Record<string, DeviceField['kind']>> = {
  ...Object.fromEntries(deviceFields.map(({ name, kind }) => [name, kind])),
  log_switch: 'check',
  owner: undefined,
}
/** Separators of lists in cells and form fields. */
const lists: Readonly<Record<string, (text: string) => string[]>> = {
  metrics: metricsIn,
  tags: tagsIn,
} satisfies Partial<Record<DeviceSetting, (text: string) => string[]>>
const columns: readonly string[] = ['device', ...Object.keys(kinds), ...Object.keys(lists)]

/** The field that a column is of: some had other names, and the name of a device is one of its fields. */
const fields: ReadonlyMap<string, string> = new Map([
  ['device', 'name'],
  ['expected_interval_s', 'expected_interval_seconds'],
])

/** The first line names the columns. An empty cell leaves one unset. */
export function readDeviceList(text: string): DeviceList {
  if (text.length > listCharactersMax) return wrong(t('The list is longer than 8 MiB.'))
  const [header, ...rows] = rowsOf(text).filter(cells => cells.some(cell => cell.trim() !== ''))
  if (header === undefined || rows.length === 0) return wrong(t('The list needs a header and at least one device.'))
  const given = header.map(cell => cell.trim().toLowerCase())
  const names = given.map(name => fields.get(name) ?? name)
  if (!names.includes('name')) return wrong(t('The header needs a column with the name “device”.'))
  const unknown = names.find(name => name !== 'name' && !columns.includes(name))
  if (unknown !== undefined)
    return wrong(t('The column “{name}” is not known. There are {list}.', { name: unknown, list: columns.join(', ') }))
  if (rows.length > devicesMax)
    return wrong(
      t('The list has {count} devices; at most {max} fit at a time.', { count: rows.length, max: devicesMax }),
    )
  const devices: ListedDevice[] = []
  for (const [at, cells] of rows.entries()) {
    const device = deviceOf(names, cells)
    if (typeof device === 'string')
      return wrong(t('Device {number} of the list: {reason}', { number: at + 1, reason: device }))
    devices.push(device)
  }
  return { ok: true, devices }
}

function wrong(sentence: string): DeviceList {
  return { ok: false, sentence }
}

/** Returns the error of an invalid row as a sentence. */
function deviceOf(names: readonly string[], cells: readonly string[]): ListedDevice | string {
  if (cells.length > names.length) return t('it has more cells than the header.')
  const device: ListedDevice = { name: '' }
  for (const [at, name] of names.entries()) {
    const text = (cells[at] ?? '').trim()
    if (text === '') continue
    const value = cellValue(name, text)
    if (value === undefined) {
      return kinds[name] === 'check'
        ? t('{name} must be yes or no.', { name })
        : t('{name} must be a number.', { name })
    }
    device[name] = value
  }
  return device.name === '' ? t('it has no name.') : device
}

const switchValues: Record<string, boolean> = { yes: true, true: true, '1': true, no: false, false: false, '0': false }

export function tagsIn(text: string): string[] {
  const tags = text.split(/[,;]/).map(tag => tag.trim())
  return tags.filter(tag => tag !== '')
}

/** Names have no blanks, so that these part them, too. */
export function metricsIn(text: string): string[] {
  return text.split(/[\s,;]/).filter(name => name !== '')
}

function cellValue(name: string, text: string): string | boolean | number | string[] | undefined {
  if (kinds[name] === 'check') return switchValues[text.toLowerCase()]
  const list = lists[name]
  if (list !== undefined) return list(text)
  // An owner may be named by the id of the account.
  if (name === 'owner') return /^\d{1,10}$/.test(text) ? Number(text) : text
  if (kinds[name] !== 'number') return text
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}

/** Rows of cells. A quotation mark that is not closed ends with the text. */
function rowsOf(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (let at = text.startsWith('\ufeff') ? 1 : 0; at < text.length; ) {
    const { cell, end } = cellAt(text, at)
    row.push(cell)
    if (text.charAt(end) !== ',') {
      rows.push(row)
      row = []
    } else if (end + 1 === text.length) rows.push([...row, ''])
    at = end + 1
  }
  return rows
}

/** The cell that begins here, and where its comma or the end of its line is. */
function cellAt(text: string, from: number): { cell: string; end: number } {
  let cell = ''
  let isQuoted = false
  let at = from
  for (; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '"') {
      // Within quotation marks, two are one.
      if (isQuoted && text.charAt(at + 1) === '"') cell += text.charAt(++at)
      else isQuoted = !isQuoted
    } else if (isQuoted || !/[,\r\n]/.test(character)) cell += character
    else if (character !== '\r') break
  }
  return { cell, end: at }
}
