/** Counts the rows of a run that replaced earlier rows, because the service compares rows of the same request only. */

import type { Fields } from '../ingest/field-names.ts'
import { createCsvReader, readCsvHeader } from '../ingest/formats/csv.ts'
import { ReadTime } from '../ingest/formats/iso-time.ts'
import type { LineReader } from '../ingest/formats/line-reader.ts'
import { createNdjsonReader } from '../ingest/formats/ndjson.ts'
import type { Column } from '../ingest/formats/row-kind.ts'
import { type RowKindName, rowKinds } from '../ingest/formats/row-kinds.ts'
import { SeenRows } from '../ingest/formats/seen-rows.ts'
import { plainTimeText, readTimeText } from '../ingest/formats/time-text.ts'
import type { Batch } from './import-batch.ts'

const rowsMax = 1 << 21
const seriesMax = 1_000_000
const lineFeed = 0x0a
const carriageReturn = 0x0d

export class RunRows {
  readonly #columns: readonly Column[]
  /** The columns that name the series. */
  readonly #names: readonly string[]
  readonly #seen = new SeenRows(rowsMax)
  readonly #numbers = new Map<string, number>()

  constructor(kind: RowKindName) {
    this.#columns = rowKinds[kind].columns
    this.#names = this.#columns.flatMap(({ name, cell }) => (cell === 'text' ? [name] : []))
  }

  /** Adds the rows of a batch, but for the lines of its body that were rejected, and returns how many there were before. */
  add({ body, linesAt, format }: Batch, rejected: ReadonlySet<number>): number {
    const read = format === 'csv' ? this.#csvReader(body, linesAt) : createNdjsonReader(this.#columns)
    let line = linesAt > 0 ? 2 : 1
    let replaced = 0
    for (let start = linesAt; start < body.length; line++) {
      const found = body.indexOf(lineFeed, start)
      const end = found === -1 ? body.length : found
      const fields = rejected.has(line) ? '' : read?.(body, start, body[end - 1] === carriageReturn ? end - 1 : end)
      if (typeof fields === 'object' && this.#isReplacing(fields)) replaced++
      start = end + 1
    }
    return replaced
  }

  /** Reads only the columns that identify a row. */
  #csvReader(body: Buffer, linesAt: number): LineReader | undefined {
    const header = readCsvHeader(body.toString('utf8', 0, linesAt).trimEnd(), this.#columns)
    if (!header.ok) return undefined
    const columns = header.layout.columns.map(name => (name === 'timestamp' || this.#isName(name) ? name : undefined))
    return createCsvReader({ ...header.layout, columns }, this.#columns)
  }

  #isName(name: string | undefined): boolean {
    return name !== undefined && this.#names.includes(name)
  }

  #isReplacing(fields: Fields): boolean {
    const timeUs = timeUsOf(fields['timestamp'])
    if (timeUs === undefined) return false
    const series = this.#numberOf(JSON.stringify(this.#names.map(name => fields[name])))
    return series !== undefined && this.#seen.add(series, timeUs)
  }

  #numberOf(key: string): number | undefined {
    const known = this.#numbers.get(key)
    if (known !== undefined || this.#numbers.size === seriesMax) return known
    const number = this.#numbers.size
    this.#numbers.set(key, number)
    return number
  }
}

function timeUsOf(time: unknown): number | undefined {
  if (time instanceof ReadTime) return Math.round(time.ms * 1000)
  if (typeof time === 'number') return Math.round(time * 1000)
  return typeof time === 'string' ? readTimeText(plainTimeText(time)) : undefined
}
