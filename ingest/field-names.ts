/** The fields of a reading in all their spellings, and the names of fields that are not stored. */

import { catalogueEntry } from '../store/metrics/catalogue.ts'
import { metricNameOf, timeFieldOf } from '../store/metrics/metric-name.ts'
import { metrics as columns, type Metric } from '../store/tables.ts'

export type Fields = Record<string, unknown>

/** The logger API writes the first, a CSV header the second. */
export const voltageNames = ['battery voltage', 'battery_voltage'] as const
export const percentageNames = ['battery percentage', 'battery_percentage'] as const

const known: ReadonlySet<string> = new Set(['device', 'timestamp', ...columns, ...voltageNames, ...percentageNames])

/** True for a documented name of a column, the device or the time. */
export function isColumnField(name: string): boolean {
  return known.has(name)
}

/** Returns the spelling that a reading has. Of both the last one counts, like a name sent twice. */
export function spellingIn(fields: Fields, [spaced, plain]: readonly [string, string]): string {
  if (fields[plain] === undefined) return spaced
  if (fields[spaced] === undefined) return plain
  const names = Object.keys(fields)
  return names.indexOf(spaced) > names.indexOf(plain) ? spaced : plain
}

/**
 * Role of a field without a documented name: a column's value, a time, a voltage possibly of a battery, another battery value, or
 * a possible custom metric.
 */
export type FieldRole = Metric | 'reading time' | 'record time' | 'voltage' | 'battery' | 'custom'

/** Cache of recent names: normalizing a name takes longer than the rest of its check. */
const roles = new Map<string, FieldRole>()
const rolesMax = 10_000
/** A longer name cannot match a metric. */
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

/** Higher voltages of a battery are in mV: Zigbee2MQTT and many LoRaWAN decoders send 3005. */
const millivoltsMin = 1000
const batteryVoltsMax = 100

/** Volts for any field but `battery_voltage`, whose unit is documented. */
export function batteryVolts(value: number): number {
  return value >= millivoltsMin ? value / 1000 : value
}

/** True when the field `voltage` beside a battery can be the battery's: 230 V is mains. */
export function isBatteryVoltage(value: number): boolean {
  return (value >= 0 && value <= batteryVoltsMax) || (value >= millivoltsMin && value <= batteryVoltsMax * 1000)
}

const namesMax = 20
const nameCharactersMax = 64

export interface StoredFields {
  /** Fields without a documented name that are stored or hold the reading's time. */
  readonly stored: ReadonlySet<string>
  /** Reasons of omitted values, by field. */
  readonly outOfRange?: Readonly<Record<string, string>> | undefined
}

/**
 * Names of fields that are not stored, limited in number and length. Undefined without any. `metrics`: the device's list. A null
 * field loses no value.
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

/** A sender's name, shortened for answers. */
export function shortenedName(name: string): string {
  return name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax - 1).toWellFormed()}…` : name
}

function isListed(name: string, metrics: readonly string[] | null): boolean {
  return metrics === null || name === 'device' || name === 'timestamp' || metrics.includes(name.replace(' ', '_'))
}
