/** The fields of a line: which metrics they are, and their values. */

import { metrics } from '../../store/tables.ts'
import { type Range, type Ranges, rangeReason, storedValue } from '../reading.ts'
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
}

const noMetric = -1
const fieldsMax = 1024
const nameCharactersMax = 64

export class FieldsReader {
  /** The metrics of the line that was read last; NaN for what it does not have. */
  readonly values = new Float64Array(readingRows.valuesPerRow)
  hasMetric = false
  /** Behind the last field, or where a problem was found. */
  end = 0
  /** In its texts, which may span lines. */
  lineFeeds = 0
  readonly #bytes: Buffer
  readonly #numbers: NumberReader
  readonly #ranges: Range[]
  readonly #unknownFields: LineNames['unknownFields']
  readonly #known: KnownField[] = []

  constructor(bytes: Buffer, ranges: Ranges, unknownFields: LineNames['unknownFields']) {
    this.#bytes = bytes
    this.#numbers = new NumberReader(bytes)
    this.#ranges = metrics.map(metric => ranges[metric])
    this.#unknownFields = unknownFields
  }

  /** Reads the fields from `start` on, whose metrics are those of `table`. */
  read(start: number, table: FieldTable): Problem | undefined {
    const bytes = this.#bytes
    this.values.fill(Number.NaN)
    this.hasMetric = false
    this.lineFeeds = 0
    this.end = start
    for (let place = 0; place < fieldsMax; place++) {
      const problem = this.#readField(place, table)
      if (problem !== undefined) return problem
      if (this.end === bytes.length || bytes[this.end] !== byteOf.comma) return undefined
      this.end++
    }
    return malformed(`has more than ${fieldsMax} fields`)
  }

  #readField(place: number, table: FieldTable): Problem | undefined {
    const nameAt = this.end
    let known = this.#known[place]
    if (known === undefined || known.table !== table || !this.#startsWith(known.name)) {
      this.end = nameEnd(this.#bytes, nameAt, this.#bytes.length)
      if (this.end === nameAt || this.#bytes[this.end] !== byteOf.equals) {
        return malformed('has a field without a name or a value')
      }
      const metric = table.get(unescapeText(this.#bytes, nameAt, this.end, 'name')) ?? noMetric
      known = { table, name: this.#bytes.subarray(nameAt, this.end + 1), metric }
      this.#known[place] = known
    }
    this.end = nameAt + known.name.length
    return known.metric === noMetric ? this.#skipValue(known) : this.#readMetric(known.metric)
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

  /** Of a field that is no metric. */
  #skipValue(field: KnownField): Problem | undefined {
    const bytes = this.#bytes
    const start = this.end
    if (start < bytes.length && bytes[start] === byteOf.quote) {
      const problem = this.#skipText()
      if (problem !== undefined) return problem
    } else {
      this.end = nameEnd(bytes, start, bytes.length)
      if (withoutReturn(bytes, start, this.end) === start) return malformed('has a field without a value')
    }
    return this.#unknownFields === 'ignore' ? undefined : unknownField(field)
  }

  #skipText(): Problem | undefined {
    const start = this.end
    const end = stringEnd(this.#bytes, start)
    this.end = end ?? this.#bytes.length
    this.lineFeeds += lineFeedsIn(this.#bytes, start, this.end)
    return end === undefined ? malformed('has a quote that is not closed') : undefined
  }
}

function unknownField({ name }: KnownField): Problem {
  return invalid(`field ${shortened(unescapeText(name, 0, name.length - 1, 'name'))} is not known`)
}

function shortened(name: string): string {
  return name.length > nameCharactersMax ? `${name.slice(0, nameCharactersMax - 1).toWellFormed()}…` : name
}
