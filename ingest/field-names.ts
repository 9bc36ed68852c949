/** The fields that a reading may have, in all their spellings, and the names of those that are not stored. */

import { catalogueEntry } from '../store/metrics/catalogue.ts'
import { metricNameOf, timeFieldOf } from '../store/metrics/metric-name.ts'
import { metrics as columns, type Metric } from '../store/tables.ts'

export type Fields = Record<string, unknown>

/** The logger API writes the first of each, a CSV header the second. */
export const voltageNames = ['battery voltage', 'battery_voltage'] as const
export const percentageNames = ['battery percentage', 'battery_percentage'] as const

const known: ReadonlySet<string> = new Set(['device', 'timestamp', ...columns, ...voltageNames, ...percentageNames])

/** Whether a field is one of the documented names: of a column, of the device or of the time. */
export function isColumnField(name: string): boolean {
  return known.has(name)
}

/** Which of two spellings a reading has; of both it is the last one, as with a name that stands twice. */
export function spellingIn(fields: Fields, [spaced, plain]: readonly [string, string]): string {
  if (fields[plain] === undefined) return spaced
  if (fields[spaced] === undefined) return plain
  const names = Object.keys(fields)
  return names.indexOf(spaced) > names.indexOf(plain) ? spaced : plain
}

/**
 * What a field with another than a documented name holds: the value of a column, a time, a voltage that may be one of a
 * battery, something else of a battery, or what may be a value of a custom metric.
 */
export type FieldRole = Metric | 'reading time' | 'record time' | 'voltage' | 'battery' | 'custom'

/** Of the names that were looked up last: to spell a name takes longer than the rest of its check. */
const roles = new Map<string, FieldRole>()
const rolesMax = 10_000
/** A longer name is one of no metric. */
const roleCharactersMax = 64

export function roleOf(name: string): FieldRole {
  const found = roles.get(name)
  if (found !== undefined) return found
  if (name.length > roleCharactersMax) return 'custom'
  const role = findRole(name)
  if (roles.size === rolesMax) roles.clear()
  roles.set(name, role)
  return role
}

function findRole(field: string): FieldRole {
  const name = metricNameOf(field)
  if (name === undefined) return timeFieldOf(field) ?? 'custom'
  const metric = catalogueEntry(name)?.name ?? name
  if (metric === 'voltage') return metric
  return columns.find(column => column === metric) ?? (name.startsWith('batt') ? 'battery' : 'custom')
}

/** From here on a voltage of a battery is in mV: Zigbee2MQTT and many LoRaWAN decoders send 3005. */
const millivoltsMin = 1000
const batteryVoltsMax = 100

/** Volts of a field that is called otherwise than `battery_voltage`, whose unit is documented. */
export function batteryVolts(value: number): number {
  return value >= millivoltsMin ? value / 1000 : value
}

/** Whether the field `voltage` of a message with a battery can be that of the battery: 230 V are those of the mains. */
export function isBatteryVoltage(value: number): boolean {
  return (value >= 0 && value <= batteryVoltsMax) || (value >= millivoltsMin && value <= batteryVoltsMax * 1000)
}

const namesMax = 20
const nameCharactersMax = 64

export interface StoredFields {
  /** Fields that are stored, or whose value is the time of the reading, though they have no documented name. */
  readonly stored: ReadonlySet<string>
  /** Why values are left out of the reading, by field. */
  readonly outOfRange?: Readonly<Record<string, string>> | undefined
}

/**
 * Names of fields that are not stored, the first ones and not at any length; undefined where there are none. `metrics`: what
 * the device lists. A null is no value that would be lost.
 */
export function ignoredNames(
  fields: Fields,
  { stored, outOfRange }: StoredFields,
  metrics: readonly string[] | null,
): string[] | undefined {
  let names: string[] | undefined
  for (const name in fields) {
    const isTaken = known.has(name) ? isListed(name, metrics) : stored.has(name)
    if (isTaken && (outOfRange === undefined || !Object.hasOwn(outOfRange, name))) continue
    if ((fields[name] ?? null) === null) continue
    names ??= []
    names.push(shortenedName(name))
    if (names.length === namesMax) break
  }
  return names
}

/** A name that a sender chose, as it is answered. */
export function shortenedName(name: string): string {
  return name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax - 1).toWellFormed()}…` : name
}

function isListed(name: string, metrics: readonly string[] | null): boolean {
  return metrics === null || name === 'device' || name === 'timestamp' || metrics.includes(name.replace(' ', '_'))
}
