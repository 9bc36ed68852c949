/** Fields of a reading without a documented name: selects possible values of metrics and decides where each is stored. */

import type { Metric } from '../store/tables.ts'
import {
  type Fields,
  isBatteryVoltage,
  isColumnField,
  percentageNames,
  roleOf,
  shortenedName,
  spellingIn,
  voltageNames,
} from './field-names.ts'
import type { CustomValues } from './journal/record.ts'

/** Fields that may be values of metrics, as they were sent. */
export interface CustomFields {
  readonly names: readonly string[]
  /** One value for each name. */
  readonly values: readonly number[]
}

/** A field of a device: values within its range are stored in its series, others are left out. */
export interface CustomField {
  /** The number of the series of the device's metric. */
  readonly series: number
  readonly min: number
  readonly max: number
}

/** Looks up a field. Undefined for a field that is not stored and is reported as ignored. */
export type CustomFieldOf = (name: string) => CustomField | undefined

/**
 * The limit of a reading is more than twice the number of metrics that a device may have. Further fields are not read.
 */
const fieldsMax = 150

/** Numbers of a reading in fields without a documented name. */
export interface OtherFields {
  /** Fields without a column. Undefined without any. */
  readonly custom: CustomFields | undefined
  /** Each column sent under an alias has the field with its value. */
  readonly columns: Readonly<Partial<Record<Metric, string>>>
  /** All aliases of columns. */
  readonly aliases: readonly string[]
  /** Fields that may hold the time of the reading, also as texts. */
  readonly times: readonly string[]
}

/** `metrics`: the device's list. Undefined without other fields: nearly all readings have documented names only. */
export function otherFieldsOf(fields: Fields, metrics: readonly string[] | null): OtherFields | undefined {
  let found: FieldCollector | undefined
  for (const name in fields) {
    if (isColumnField(name)) {
      found?.takeDocumented(name, fields[name])
      continue
    }
    const value = fields[name]
    if (value === null || value === undefined) continue
    found ??= new FieldCollector(metrics)
    found.take(name, value)
    if (found.isFull()) break
  }
  found?.placeVoltages(fields)
  return found
}

class FieldCollector implements OtherFields {
  readonly columns: Partial<Record<Metric, string>> = {}
  readonly aliases: string[] = []
  readonly times: string[] = []
  readonly #names: string[] = []
  readonly #values: number[] = []
  readonly #voltages: string[] = []
  readonly #metrics: readonly string[] | null
  #hasBattery = false

  constructor(metrics: readonly string[] | null) {
    this.#metrics = metrics
  }

  get custom(): CustomFields | undefined {
    return this.#names.length === 0 ? undefined : { names: this.#names, values: this.#values }
  }

  isFull(): boolean {
    return this.#names.length >= fieldsMax
  }

  take(name: string, value: unknown): void {
    const role = roleOf(name)
    if (role === 'reading time') this.times.push(name)
    if (role === 'reading time' || role === 'record time') return
    const number = numberOf(value)
    if (number === undefined) return
    if (role === 'battery') this.#hasBattery = true
    if (role === 'battery' || role === 'custom') this.#add(name, number)
    else if (role === 'voltage') this.#voltages.push(name)
    // A column never takes a boolean.
    else if (typeof value === 'number') this.#addAlias(role, name)
  }

  /** The last one of an alias and a documented name counts, like a name sent twice. */
  takeDocumented(name: string, value: unknown): void {
    if (value !== null && value !== undefined) delete this.columns[name.replace(' ', '_') as Metric]
  }

  /** A voltage belongs to the battery where the message has a battery and the device does not list `voltage`. */
  placeVoltages(fields: Fields): void {
    for (const name of this.#voltages) {
      const value = numberOf(fields[name]) as number
      const isOfBattery = isBatteryVoltage(value) && this.#metrics?.includes('voltage') !== true
      if (isOfBattery && this.#lacksVoltage(fields)) this.#addAlias('battery_voltage', name)
      else this.#add(name, value)
    }
  }

  #lacksVoltage(fields: Fields): boolean {
    const has = (column: Metric, names: typeof voltageNames | typeof percentageNames) =>
      this.columns[column] !== undefined || (fields[spellingIn(fields, names)] ?? null) !== null
    const hasBattery = this.#hasBattery || has('battery_percentage', percentageNames)
    return hasBattery && !has('battery_voltage', voltageNames)
  }

  #add(name: string, value: number): void {
    this.#names.push(name)
    this.#values.push(value)
  }

  #addAlias(column: Metric, name: string): void {
    if (!isListedColumn(this.#metrics, column, name)) return
    this.columns[column] = name
    this.aliases.push(name)
  }
}

/** An old list may contain a name that later became an alias. */
export function isListedColumn(metrics: readonly string[] | null, column: Metric, name: string): boolean {
  return metrics === null || metrics.includes(column) || metrics.includes(name)
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'boolean') return value ? 1 : 0
  return undefined
}

export interface TakenFields {
  /** Undefined without values. */
  readonly custom: CustomValues | undefined
  /** Names that are not stored. */
  readonly ignored: readonly string[]
  /** Reasons of omitted values, by name. Undefined without any. */
  readonly outOfRange: Readonly<Record<string, string>> | undefined
}

/** Two names of one metric (`co2`, `co2_ppm`) are one value: the last one counts, like a name sent twice. */
export function takeFields({ names, values }: CustomFields, fieldOf: CustomFieldOf): TakenFields {
  const series: number[] = []
  const taken: number[] = []
  const ignored: string[] = []
  let outOfRange: Record<string, string> | undefined
  for (const [index, name] of names.entries()) {
    const field = fieldOf(name)
    const value = values[index] as number
    if (field === undefined) {
      ignored.push(name)
    } else if (value < field.min || value > field.max) {
      outOfRange = { ...outOfRange, [name]: customRangeReason(field) }
    } else {
      const before = series.indexOf(field.series)
      if (before === -1) series.push(field.series)
      taken[before === -1 ? series.length - 1 : before] = value
    }
  }
  return { custom: series.length === 0 ? undefined : { series, values: taken }, ignored, outOfRange }
}

/** Reason and remedy for a field that does not match a metric of its device. */
export function unknownFieldReason(name: string): string {
  return `field ${shortenedName(name)} is not known: add it by "barograph metrics add", or to the metrics that the device lists`
}

/** The same reason for an entity of Home Assistant. */
export function unknownEntityReason(id: string): string {
  return `entity ${id} is not a metric: add the ending of its name by "barograph metrics add"`
}

/** One of the limits may be infinite. */
export function customRangeReason({ min, max }: CustomField): string {
  if (max === Number.POSITIVE_INFINITY) return `must be at least ${min}`
  return min === Number.NEGATIVE_INFINITY ? `must be at most ${max}` : `must be between ${min} and ${max}`
}
