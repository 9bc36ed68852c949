/** The fields of a line: which metrics they are, and their values. */

import { type Metric, metrics } from '../../store/tables.ts'
import { shortenedName } from '../field-names.ts'
import { type FurtherField, furtherRangeReason, unknownEntityReason, unknownFieldReason } from '../further-fields.ts'
import { type Range, type Ranges, rangeReason, storedValue } from '../reading.ts'
import type { ReadingDevice } from '../whole-reading.ts'
import type { SightingsReader } from './field-sightings.ts'
import { type Entity, EntityLine } from './line-protocol-entities.ts'
import type { FieldTable, LineNames } from './line-protocol-names.ts'
import { NumberReader } from './line-protocol-number.ts'
import { invalid, malformed, type Problem } from './line-protocol-problem.ts'
import { byteOf, lineFeedsIn, nameEnd, stringEnd, unescapeText, withoutReturn } from './line-protocol-text.ts'
import { readingRows } from './reading-rows.ts'

/** A field as it was in the line before at the same place: most lines have the same fields in the same order. */
interface KnownField {
  table: FieldTable
  /** As it stands in the body, with the equals sign. */
  name: Buffer
  metric: number
  /** Of a field that has no column, its name as a text. */
  otherName: string
}

/** What is known of the device of a line. A field that is not there is a missing value, also of one that it lists. */
export type DeviceOfLine = Pick<ReadingDevice, 'metrics' | 'fieldOf'>

export interface FurtherValueOfLine {
  series: number
  value: number
}

export interface FieldsOptions {
  ranges: Ranges
  names: Pick<LineNames, 'unknownFields'>
  sightings?: SightingsReader | undefined
}

const noMetric = -1
/** Of a line. */
const furtherMax = 150
const fieldsMax = 1024
const nameCharactersMax = 64

export class FieldsReader {
  /** The metrics of the line that was read last; NaN for what it does not have. */
  readonly values = new Float64Array(readingRows.valuesPerRow)
  /** Values of metrics that have no column. */
  readonly further: FurtherValueOfLine[] = []
  /** Names of fields of which it is not known yet whether they are metrics. */
  readonly sighted: string[] = []
  /** Whether it has any value, or may have one. */
  hasMetric = false
  /** Behind the last field, or where a problem was found. */
  end = 0
  /** In its texts, which may span lines. */
  lineFeeds = 0
  readonly #bytes: Buffer
  readonly #numbers: NumberReader
  readonly #ranges: Range[]
  readonly #options: FieldsOptions
  readonly #known: KnownField[] = []
  readonly #entityLine = new EntityLine()
  #device: DeviceOfLine | undefined
  #entity: Entity | undefined

  constructor(bytes: Buffer, options: FieldsOptions) {
    this.#bytes = bytes
    this.#numbers = new NumberReader(bytes)
    this.#ranges = metrics.map(metric => options.ranges[metric])
    this.#options = options
  }

  /**
   * Reads the fields from `start` on, whose metrics are those of `table`, or of those of an entity its value. The first thing that
   * is wrong counts.
   */
  read(
    start: number,
    table: FieldTable,
    device: DeviceOfLine | undefined,
    entity: Entity | undefined,
  ): Problem | undefined {
    this.values.fill(Number.NaN)
    if (this.further.length > 0) this.further.length = 0
    if (this.sighted.length > 0) this.sighted.length = 0
    this.hasMetric = false
    this.lineFeeds = 0
    this.end = start
    this.#device = device
    this.#entity = entity
    if (entity === undefined) return this.#readFields(table)
    this.#entityLine.clear()
    return this.#readFields(table) ?? this.#takeEntity(entity)
  }

  #readFields(table: FieldTable): Problem | undefined {
    const bytes = this.#bytes
    let first: Problem | undefined
    for (let place = 0; place < fieldsMax; place++) {
      const problem = this.#readField(place, table)
      // What cannot be read ends the line; behind a wrong value there may be fields that its device has.
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
      known = { table, name: this.#bytes.subarray(nameAt, this.end + 1), metric, otherName: name }
      this.#known[place] = known
    }
    this.end = nameAt + known.name.length
    const { metric, otherName } = known
    if (this.#entity !== undefined) return this.#noteOfEntity(otherName)
    return metric === noMetric || !this.#isTaken(metric) ? this.#readOther(otherName) : this.#readMetric(metric)
  }

  /** Of a device that lists what it has, those alone. */
  #isTaken(metric: number): boolean {
    const listed = this.#device?.metrics
    return listed == null || listed.includes(metrics[metric] as string)
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
    return Number.isNaN(value) ? this.#valueProblem(metric) : this.#takeMetric(metric, value)
  }

  #takeMetric(metric: number, value: number): Problem | undefined {
    const range = this.#ranges[metric] as Range
    const stored = storedValue(value, range)
    if (Number.isNaN(stored)) return invalid(`${metrics[metric]} ${rangeReason(range)}`)
    this.values[metric] = stored
    this.hasMetric = true
    return undefined
  }

  #valueProblem(metric: number): Problem {
    const problem = this.#bytes[this.end] === byteOf.quote ? this.#skipText() : undefined
    return problem ?? invalid(`${metrics[metric]} must be a number`)
  }

  /** Of a field that has no column. */
  #readOther(name: string): Problem | undefined {
    const value = this.#readAny()
    if (typeof value !== 'number') return value
    return Number.isNaN(value) ? this.#unknown(name) : this.#takeOther(name, value)
  }

  #takeOther(name: string, value: number): Problem | undefined {
    if (this.#device === undefined) return this.#sight(name)
    const field = this.further.length < furtherMax ? this.#device.fieldOf(name) : undefined
    return field === undefined ? this.#unknown(name) : this.#takeFurther(name, value, field)
  }

  #noteOfEntity(field: string): Problem | undefined {
    const value = this.#readAny()
    return typeof value === 'number' ? this.#entityLine.note(field, value) : value
  }

  /** Nothing of an entity whose state is a text. */
  #takeEntity(entity: Entity): Problem | undefined {
    const value = this.#entityLine.valueOf(entity)
    if (typeof value !== 'number') return value
    if (Number.isNaN(value)) return undefined
    const name = this.#entityLine.isOf(entity) ? entity.metric?.name : undefined
    if (name === undefined) return this.#unknownEntity(entity)
    const metric = metrics.indexOf(name as Metric)
    return metric !== noMetric && this.#isTaken(metric) ? this.#takeMetric(metric, value) : this.#takeOther(name, value)
  }

  /** NaN for a text, or a word that is none of a boolean. */
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

  #sight(name: string): Problem | undefined {
    const mayBeMetric = name.length <= nameCharactersMax && this.sighted.length < furtherMax
    if (this.#options.sightings === undefined || !mayBeMetric) return this.#unknown(name)
    this.sighted.push(name)
    this.hasMetric = true
    return undefined
  }

  #takeFurther(name: string, value: number, field: FurtherField): Problem | undefined {
    if (value < field.min || value > field.max) return invalid(`${shortenedName(name)} ${furtherRangeReason(field)}`)
    this.further.push({ series: field.series, value })
    this.hasMetric = true
    return undefined
  }

  #unknown(name: string): Problem | undefined {
    return this.#options.names.unknownFields === 'ignore' ? undefined : invalid(unknownFieldReason(name))
  }

  #unknownEntity({ id }: Entity): Problem | undefined {
    const isIgnored = this.#options.names.unknownFields === 'ignore'
    return isIgnored ? undefined : invalid(unknownEntityReason(id))
  }

  #skipText(): Problem | undefined {
    const start = this.end
    const end = stringEnd(this.#bytes, start)
    this.end = end ?? this.#bytes.length
    this.lineFeeds += lineFeedsIn(this.#bytes, start, this.end)
    return end === undefined ? malformed('has a quote that is not closed') : undefined
  }
}

const words = new Map([
  ...['t', 'T', 'true', 'True', 'TRUE'].map(word => [word, 1] as const),
  ...['f', 'F', 'false', 'False', 'FALSE'].map(word => [word, 0] as const),
])

/** NaN for what is none. */
function booleanIn(bytes: Buffer, start: number, end: number): number {
  if (end - start > 'false'.length) return Number.NaN
  return words.get(bytes.toString('latin1', start, end)) ?? Number.NaN
}
