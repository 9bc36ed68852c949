/** The fields of a line: their metrics and values. */

import { type Metric, metrics } from '../../store/tables.ts'
import { customRangeReason, isListedColumn, unknownEntityReason, unknownFieldReason } from '../custom-fields.ts'
import { batteryVolts, type FieldRole, isBatteryVoltage, roleOf, shortenedName } from '../field-names.ts'
import { type Errors, type Range, type Ranges, rangeReason, sentenceOf, storedValue } from '../reading.ts'
import type { ReadingDevice } from '../whole-reading.ts'
import type { SightingsReader } from './field-sightings.ts'
import { type Entity, EntityLine } from './line-protocol-entities.ts'
import type { FieldTable, LineNames } from './line-protocol-names.ts'
import {
  byteOf,
  lineFeedsIn,
  NumberReader,
  nameEnd,
  stringEnd,
  unescapeText,
  withoutReturn,
} from './line-protocol-text.ts'
import { invalid, malformed, type Problem } from './reject.ts'
import { readingRows } from './row-kinds.ts'

/** The field at the same place of the previous line: most lines have the same fields in the same order. */
interface KnownField {
  table: FieldTable
  /** Its bytes in the body, with the equals sign. */
  name: Buffer
  metric: number
  /** Its name as a text. */
  text: string
  /** Role of a name outside the table. */
  role: FieldRole
}

/** The device of a line. A missing field is a missing value, even where the device lists it. */
export type DeviceOfLine = Pick<ReadingDevice, 'metrics' | 'fieldOf'>

export interface CustomValueOfLine {
  series: number
  value: number
}

export interface FieldsOptions {
  ranges: Ranges
  names: Pick<LineNames, 'unknownFields'>
  sightings?: SightingsReader | undefined
}

const noMetric = -1
const voltageMetric = metrics.indexOf('battery_voltage')
const percentageMetric = metrics.indexOf('battery_percentage')
/** Both limits apply to a line. */
const customMax = 150
const fieldsMax = 1024
const nameCharactersMax = 64

export class FieldsReader {
  /** The metrics of the last line; NaN for a missing one. */
  readonly values = new Float64Array(readingRows.valuesPerRow)
  /** Values of metrics that have no column. */
  readonly custom: CustomValueOfLine[] = []
  /** Names of fields whose metrics are not resolved yet. */
  readonly sighted: string[] = []
  /** Names of fields that are metrics only where the device lists them. */
  readonly sightedIfListed: string[] = []
  /** Reasons of omitted values, by field. */
  outOfRange: Errors | undefined
  /** True when the line has a value, or may have one. */
  hasMetric = false
  /** Offset after the last field, or of a problem. */
  end = 0
  /** Line feeds within its texts, which may span lines. */
  lineFeeds = 0
  readonly #bytes: Buffer
  readonly #numbers: NumberReader
  readonly #ranges: Range[]
  readonly #options: FieldsOptions
  readonly #known: KnownField[] = []
  readonly #entityLine = new EntityLine()
  /** Fields that may hold a battery's voltage. The other fields of the line decide. */
  readonly #voltages: { name: string; value: number }[] = []
  #hasBattery = false
  #hasVoltage = false
  /** Problem of the first field that is not stored, where such lines are rejected. */
  #unknownProblem: Problem | undefined
  #device: DeviceOfLine | undefined
  #entity: Entity | undefined

  constructor(bytes: Buffer, options: FieldsOptions) {
    this.#bytes = bytes
    this.#numbers = new NumberReader(bytes)
    this.#ranges = metrics.map(metric => options.ranges[metric])
    this.#options = options
  }

  /**
   * Reads the fields from `start` on: the metrics of `table`, or the value of an entity. Returns the first wrong value, or else
   * the first field that is not stored.
   */
  read(
    start: number,
    table: FieldTable,
    device: DeviceOfLine | undefined,
    entity: Entity | undefined,
  ): Problem | undefined {
    this.values.fill(Number.NaN)
    if (this.custom.length > 0) this.custom.length = 0
    if (this.sighted.length > 0) this.sighted.length = 0
    if (this.sightedIfListed.length > 0) this.sightedIfListed.length = 0
    if (this.#voltages.length > 0) this.#voltages.length = 0
    this.outOfRange = undefined
    this.#hasBattery = false
    this.#hasVoltage = false
    this.#unknownProblem = undefined
    this.hasMetric = false
    this.lineFeeds = 0
    this.end = start
    this.#device = device
    this.#entity = entity
    if (entity !== undefined) {
      this.#entityLine.clear()
      return this.#readFields(table) ?? this.#takeEntity(entity) ?? this.#problemOfLine()
    }
    const problem = this.#readFields(table)
    if (problem !== undefined) return problem
    if (this.#voltages.length > 0) this.#placeVoltages()
    return this.#problemOfLine()
  }

  /** Checks a line whose values can all be read. */
  #problemOfLine(): Problem | undefined {
    if (this.outOfRange === undefined || this.#unknownProblem !== undefined) return this.#unknownProblem
    this.hasMetric = this.custom.length + this.sighted.length > 0 || !this.values.every(Number.isNaN)
    return this.hasMetric ? undefined : invalid(sentenceOf(this.outOfRange))
  }

  #readFields(table: FieldTable): Problem | undefined {
    const bytes = this.#bytes
    let first: Problem | undefined
    for (let place = 0; place < fieldsMax; place++) {
      const problem = this.#readField(place, table)
      // A syntax error ends the line. After a wrong value the device's other fields may follow.
      if (problem?.code === 'LINE_MALFORMED') return first ?? problem
      first ??= problem
      if (this.end === bytes.length || bytes[this.end] !== byteOf.comma) return first
      this.end++
    }
    return first ?? malformed(`has more than ${fieldsMax} fields`)
  }

  #readField(place: number, table: FieldTable): Problem | undefined {
    const nameAt = this.end
    let known = this.#known[place]
    if (known === undefined || known.table !== table || !this.#startsWith(known.name)) {
      this.end = nameEnd(this.#bytes, nameAt, this.#bytes.length)
      if (this.end === nameAt || this.#bytes[this.end] !== byteOf.equals) {
        return malformed('has a field without a name or a value')
      }
      const name = unescapeText(this.#bytes, nameAt, this.end, 'name')
      const metric = table.get(name) ?? noMetric
      known = { table, name: this.#bytes.subarray(nameAt, this.end + 1), metric, text: name, role: roleOf(name) }
      this.#known[place] = known
    }
    this.end = nameAt + known.name.length
    const { metric, text } = known
    if (this.#entity !== undefined) return this.#noteOfEntity(text)
    if (metric === noMetric) return this.#readOther(known)
    return this.#isTaken(metric, text) ? this.#readMetric(metric) : this.#readCustom(text)
  }

  /** A device with a list takes only the listed metrics. */
  #isTaken(metric: number, name: string): boolean {
    return isListedColumn(this.#device?.metrics ?? null, metrics[metric] as Metric, name)
  }

  #startsWith(name: Buffer): boolean {
    const bytes = this.#bytes
    const start = this.end
    const { length } = name
    if (start + length > bytes.length) return false
    for (let at = 0; at < length; at++) if (bytes[start + at] !== name[at]) return false
    return true
  }

  #readMetric(metric: number): Problem | undefined {
    const value = this.#numbers.read(this.end)
    this.end = this.#numbers.end
    if (Number.isNaN(value)) return this.#valueProblem(metric)
    this.#takeMetric(metric, value, metrics[metric] as string)
    return undefined
  }

  #takeMetric(metric: number, value: number, name: string): void {
    const range = this.#ranges[metric] as Range
    const stored = storedValue(value, range)
    if (metric === voltageMetric) this.#hasVoltage = true
    else if (metric === percentageMetric) this.#hasBattery = true
    this.values[metric] = stored
    if (Number.isNaN(stored)) this.#leaveOut(name, rangeReason(range))
    else this.hasMetric = true
  }

  #leaveOut(name: string, reason: string): void {
    this.outOfRange = { ...this.outOfRange, [name]: reason }
  }

  #valueProblem(metric: number): Problem {
    const problem = this.#bytes[this.end] === byteOf.quote ? this.#skipText() : undefined
    return problem ?? invalid(`${metrics[metric]} must be a number`)
  }

  /** Reads a field outside the table. */
  #readOther({ text, role }: KnownField): Problem | undefined {
    if (role === 'reading time' || role === 'record time') return this.#readTimeField(text)
    if (role === 'battery') this.#hasBattery = true
    if (role === 'battery' || role === 'custom') return this.#readCustom(text)
    const start = this.end
    const value = this.#numbers.read(start)
    this.end = this.#numbers.end
    if (Number.isNaN(value)) {
      this.end = start
      return this.#readCustom(text)
    }
    if (role === 'voltage') this.#voltages.push({ name: text, value })
    else this.#takeAlias(metrics.indexOf(role), text, value)
    return undefined
  }

  #takeAlias(metric: number, name: string, value: number): void {
    if (this.#isTaken(metric, name))
      this.#takeMetric(metric, metric === voltageMetric ? batteryVolts(value) : value, name)
    else this.#unknown(name)
  }

  /** Assigns voltages to the battery where the line has one, as in readings of all formats. */
  #placeVoltages(): void {
    for (const { name, value } of this.#voltages) {
      const isOfBattery = this.#hasBattery && !this.#hasVoltage && isBatteryVoltage(value)
      if (!isOfBattery || this.#device?.metrics?.includes('voltage') === true) {
        this.#takeOther(name, value)
        continue
      }
      this.#takeAlias(voltageMetric, name, value)
      if (this.#device === undefined && this.#options.sightings !== undefined) this.sightedIfListed.push(name)
    }
  }

  /** A time in a field is an error: the timestamp of a line follows its fields. */
  #readTimeField(name: string): Problem | undefined {
    const value = this.#readAny()
    if (typeof value !== 'number') return value
    if (this.#refusesUnknown()) this.#unknownProblem ??= invalid(timeFieldReason(name))
    return undefined
  }

  /** Reads a field without a column. */
  #readCustom(name: string): Problem | undefined {
    const isText = this.#bytes[this.end] === byteOf.quote
    const value = this.#readAny()
    if (typeof value !== 'number') return value
    if (!Number.isNaN(value)) this.#takeOther(name, value)
    else if (this.#refusesUnknown())
      return invalid(isText ? textReason(name) : `${shortenedName(name)} must be a number`)
    return undefined
  }

  #takeOther(name: string, value: number): void {
    const field = this.custom.length < customMax ? this.#device?.fieldOf(name) : undefined
    if (this.#device === undefined) this.#sight(name)
    else if (field === undefined) this.#unknown(name)
    else if (value < field.min || value > field.max) this.#leaveOut(name, customRangeReason(field))
    else {
      this.custom.push({ series: field.series, value })
      this.hasMetric = true
    }
  }

  #noteOfEntity(field: string): Problem | undefined {
    const value = this.#readAny()
    return typeof value === 'number' ? this.#entityLine.note(field, value) : value
  }

  /** Ignores an entity whose state is a text. */
  #takeEntity(entity: Entity): Problem | undefined {
    const value = this.#entityLine.valueOf(entity)
    if (typeof value !== 'number') return value
    if (Number.isNaN(value)) return undefined
    const name = this.#entityLine.isOf(entity) ? entity.metric?.name : undefined
    if (name === undefined) return this.#unknownEntity(entity)
    if (name === 'voltage') {
      this.#hasBattery = entity.isBesideBattery
      this.#voltages.push({ name, value })
      this.#placeVoltages()
      return undefined
    }
    const metric = metrics.indexOf(name as Metric)
    if (metric !== noMetric && this.#isTaken(metric, name)) this.#takeMetric(metric, value, name)
    else this.#takeOther(name, value)
    return undefined
  }

  /** NaN for a text, or for a word other than a boolean. */
  #readAny(): number | Problem {
    const bytes = this.#bytes
    const start = this.end
    if (start < bytes.length && bytes[start] === byteOf.quote) return this.#skipText() ?? Number.NaN
    const value = this.#readNumberOrBoolean(start)
    return withoutReturn(bytes, start, this.end) === start ? malformed('has a field without a value') : value
  }

  #readNumberOrBoolean(start: number): number {
    const value = this.#numbers.read(start)
    this.end = this.#numbers.end
    return Number.isNaN(value) ? booleanIn(this.#bytes, start, withoutReturn(this.#bytes, start, this.end)) : value
  }

  #sight(name: string): void {
    const mayBeMetric = name.length <= nameCharactersMax && this.sighted.length < customMax
    if (this.#options.sightings === undefined || !mayBeMetric) {
      this.#unknown(name)
      return
    }
    this.sighted.push(name)
    this.hasMetric = true
  }

  #unknown(name: string): void {
    if (this.#refusesUnknown()) this.#unknownProblem ??= invalid(unknownFieldReason(name))
  }

  #refusesUnknown(): boolean {
    return this.#options.names.unknownFields === 'reject'
  }

  #unknownEntity({ id }: Entity): Problem | undefined {
    return this.#refusesUnknown() ? invalid(unknownEntityReason(id)) : undefined
  }

  #skipText(): Problem | undefined {
    const start = this.end
    const end = stringEnd(this.#bytes, start)
    this.end = end ?? this.#bytes.length
    this.lineFeeds += lineFeedsIn(this.#bytes, start, this.end)
    return end === undefined ? malformed('has a quote that is not closed') : undefined
  }
}

function textReason(name: string): string {
  return `field ${shortenedName(name)} is a text: only numbers and booleans are stored, texts with LINE_PROTOCOL_UNKNOWN_FIELDS=ignore left out`
}

function timeFieldReason(name: string): string {
  return `field ${shortenedName(name)} is a time, not a metric: the timestamp of a line stands at its end`
}

const words = new Map([
  ...['t', 'T', 'true', 'True', 'TRUE'].map(word => [word, 1] as const),
  ...['f', 'F', 'false', 'False', 'FALSE'].map(word => [word, 0] as const),
])

/** NaN for anything else. */
function booleanIn(bytes: Buffer, start: number, end: number): number {
  if (end - start > 'false'.length) return Number.NaN
  return words.get(bytes.toString('latin1', start, end)) ?? Number.NaN
}
