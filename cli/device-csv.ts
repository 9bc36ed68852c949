/** Reads a CSV file of devices; errors are reported by line, before anything is added. */

import { parse } from 'csv-parse/sync'
import { DeviceRequest } from '../auth/devices/device.ts'
import { CommandError, messageOf } from './command-error.ts'
import { deviceCells } from './device-columns.ts'

const faultsShown = 20

/** The column of the name is called as in all other files. */
const nameColumn = 'device'

const columns = { [nameColumn]: (cell: string): unknown => cell, ...deviceCells }

/** Columns that had other names. */
const present: ReadonlyMap<string, string> = new Map([
  ['name', nameColumn],
  ['expected_interval_s', 'expected_interval_seconds'],
])

interface Row {
  record: Record<string, string>
  info: { lines: number }
}

/** `file` is its name, for the messages. */
export function readDeviceCsv(content: string, file: string): DeviceRequest[] {
  const faults: string[] = []
  const lineOf = new Map<string, number>()
  const devices = parseRows(content, file).flatMap(({ record, info }) => {
    const parsed = DeviceRequest.safeParse(deviceOf(record))
    if (!parsed.success) {
      faults.push(...parsed.error.issues.map(issue => `line ${info.lines}: ${columnOf(issue.path)} ${issue.message}`))
      return []
    }
    const earlier = lineOf.get(parsed.data.name)
    if (earlier !== undefined) faults.push(`line ${info.lines}: duplicate device, also in line ${earlier}`)
    lineOf.set(parsed.data.name, info.lines)
    return [parsed.data]
  })
  if (faults.length > 0) {
    const more = faults.length > faultsShown ? [`and ${faults.length - faultsShown} more`] : []
    throw new CommandError([`${file}: no device was added`, ...faults.slice(0, faultsShown), ...more].join('\n  '))
  }
  if (devices.length === 0) throw new CommandError(`${file} contains no devices`)
  return devices
}

function parseRows(content: string, file: string): Row[] {
  try {
    return parse(content, { bom: true, columns: checkHeader, info: true, skip_empty_lines: true, trim: true }) as never
  } catch (error) {
    throw new CommandError(`${file}: ${messageOf(error)}`)
  }
}

function checkHeader(given: readonly string[]): string[] {
  const header = given.map(name => present.get(name) ?? name)
  const unknown = header.filter(name => !(name in columns))
  if (unknown.length > 0) {
    throw new Error(`unknown column ${unknown[0]} in the header; known columns: ${Object.keys(columns).join(', ')}`)
  }
  if (!header.includes(nameColumn)) throw new Error(`the header lacks the column ${nameColumn}`)
  const twice = header.find((name, at) => header.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`duplicate column ${twice} in the header`)
  return header
}

function columnOf([field = '', ...below]: readonly PropertyKey[]): string {
  return [field === 'name' ? nameColumn : field, ...below].join('.')
}

/** An empty cell is one that is not set. */
function deviceOf(record: Record<string, string>): Record<string, unknown> {
  const entries = Object.entries(columns).flatMap(([name, read]) => {
    const cell = record[name] ?? ''
    return cell === '' ? [] : [[name === nameColumn ? 'name' : name, read(cell)] as const]
  })
  return Object.fromEntries(entries)
}
