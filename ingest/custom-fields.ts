/** Fields of a reading without a documented name: which of them may be values of metrics, and what becomes of each. */

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
  /** As many. */
  readonly values: readonly number[]
}

/** What becomes of a field of a device: values within its range are stored in its series, others are left out. */
export interface CustomField {
  /** The number of the series of the device's metric. */
  readonly series: number
  readonly min: number
  readonly max: number
}

/** What becomes of a field; undefined when it is stored as no metric, and is named as ignored. */
export type CustomFieldOf = (name: string) => CustomField | undefined

/** Of one reading. More than twice as many as a device may have metrics; what stands behind them is not looked at. */
const fieldsMax = 150

/** Numbers of a reading whose fields have another than a documented name. */
export interface OtherFields {
  /** Those without a column; undefined when there are none. */
  readonly custom: CustomFields | undefined
  /** Of columns that have an alias, the field with their value. */
  readonly columns: Readonly<Partial<Record<Metric, string>>>
  /** All aliases of columns. */
  readonly aliases: readonly string[]
  /** Fields that may hold the time of the reading, also as texts. */
  readonly times: readonly string[]
}

/** `metrics`: what the device lists. Undefined when there are none: nearly all readings have documented names alone. */
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
    // A switch is the value of no column.
    else if (typeof value === 'number') this.#addAlias(role, name)
  }

  /** Of an alias and a documented name, the last one counts, as with a name that stands twice. */
  takeDocumented(name: string, value: unknown): void {
    if (value !== null && value !== undefined) delete this.columns[name.replace(' ', '_') as Metric]
  }

  /** A voltage is that of the battery where the message has a battery and the device lists no `voltage`. */
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

/** A list may have an alias from before it was one. */
export function isListedColumn(metrics: readonly string[] | null, column: Metric, name: string): boolean {
  return metrics === null || metrics.includes(column) || metrics.includes(name)
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'boolean') return value ? 1 : 0
  return undefined
}

export interface TakenFields {
  /** Undefined when there are none. */
  readonly custom: CustomValues | undefined
  /** Names that are stored as no metric. */
  readonly ignored: readonly string[]
  /** Why a value is left out, by its name. Undefined when none is. */
  readonly outOfRange: Readonly<Record<string, string>> | undefined
}

/** Two names of one metric (`co2`, `co2_ppm`) are one value: the last one, as with a name that stands twice. */
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

/** Why a field cannot be stored that stands for no metric of its device, and what to do about it. */
export function unknownFieldReason(name: string): string {
  return `field ${shortenedName(name)} is not known: add it by "barograph metrics add", or to the metrics that the device lists`
}

/** The same of an entity of Home Assistant. */
export function unknownEntityReason(id: string): string {
  return `entity ${id} is not a metric: add the ending of its name by "barograph metrics add"`
}

/** One of the limits may be infinite. */
export function customRangeReason({ min, max }: CustomField): string {
  if (max === Number.POSITIVE_INFINITY) return `must be at least ${min}`
  return min === Number.NEGATIVE_INFINITY ? `must be at most ${max}` : `must be between ${min} and ${max}`
}
