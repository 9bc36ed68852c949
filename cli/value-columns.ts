/** Finds the columns with numbers or times by the first rows of a file: an unmapped one may be a mistake of the mapping. */

import { isMissing, separators, splitCells } from '../ingest/formats/csv.ts'
import { readMarkedNumber } from '../ingest/formats/number.ts'
import type { Batch } from './import-batch.ts'
import { createTimeReader, isClock } from './mapping/times.ts'

const rowsMax = 1_000
const textLengthMax = 40
const readTime = createTimeReader('auto', 'dmy')

export class ValueColumns {
  readonly #names = new Set<string>()
  #rows = 0

  note(names: readonly string[], cells: readonly string[]): void {
    if (this.#rows === rowsMax) return
    this.#rows++
    for (const [column, name] of names.entries()) {
      if (!this.#names.has(name) && isValue((cells[column] ?? '').trim())) this.#names.add(name)
    }
  }

  /** Requires a batch that has a header. */
  noteBatch({ body, linesAt }: Batch): void {
    const lineOf = (start: number, end: number) => body.toString('utf8', start, end).trimEnd()
    const header = lineOf(0, linesAt)
    const separator = separators.find(each => (splitCells(header, each)?.length ?? 0) > 1) ?? ','
    const names = splitCells(header, separator) ?? []
    for (let start = linesAt; start < body.length && this.#rows < rowsMax; ) {
      const found = body.indexOf(0x0a, start)
      const end = found === -1 ? body.length : found
      this.note(names, splitCells(lineOf(start, end), separator) ?? [])
      start = end + 1
    }
  }

  /** The names of columns with values, in the given order. */
  among(names: readonly string[]): string[] {
    return names.filter(name => this.#names.has(name))
  }
}

function isValue(text: string): boolean {
  if (text.length > textLengthMax || isMissing(text)) return false
  const isNumber = !Number.isNaN(readMarkedNumber(text, 'point')) || !Number.isNaN(readMarkedNumber(text, 'comma'))
  return isNumber || isClock(text) || typeof readTime(text) === 'object'
}
