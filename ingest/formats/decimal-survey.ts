/**
 * Finds the decimal mark of a file. `21,5` and `1,234.5` have one reading; `12,345` either has three decimals or a thousands
 * separator, so all cells of the file decide together.
 */

import { type CsvLayout, cellCount, splitCells } from './csv.ts'
import { type DecimalMark, readMarkedNumber } from './number.ts'
import type { Column } from './row-kind.ts'

/** Longer texts are skipped. */
const lengthMax = 40

type Evidence = DecimalMark | 'comma or thousands' | 'point or thousands'

/** Possible readings of a cell. Undefined for an integer and for a text that is not a number. */
export function evidenceIn(text: string): Evidence | undefined {
  if (text.length > lengthMax || !(text.includes(',') || text.includes('.'))) return undefined
  return plainEvidence(text) ?? anyEvidence(text)
}

/** Handles digits with one mark that cannot separate thousands: most cells. */
function plainEvidence(text: string): DecimalMark | undefined {
  let markAt = -1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= zero && code <= nine) continue
    if (markAt !== -1 || at === 0 || !(code === comma || code === point)) return undefined
    markAt = at
  }
  const decimals = text.length - markAt - 1
  if (decimals === 0 || decimals === 3) return undefined
  return text.charCodeAt(markAt) === comma ? 'comma' : 'point'
}

const zero = 0x30
const nine = 0x39
const comma = 0x2c
const point = 0x2e

function anyEvidence(text: string): Evidence | undefined {
  const asComma = !Number.isNaN(readMarkedNumber(text, 'comma'))
  const asPoint = !Number.isNaN(readMarkedNumber(text, 'point'))
  if (asComma && asPoint) return text.includes(',') ? 'comma or thousands' : 'point or thousands'
  if (asComma) return 'comma'
  return asPoint ? 'point' : undefined
}

export type SettledMark = { ok: true; mark: DecimalMark | undefined } | { ok: false; reason: string }

/** Collects the evidence of the cells of a file. */
export class DecimalSurvey {
  /** The first cell of each kind, with the number of its line. */
  readonly #found = new Map<Evidence, string>()

  note(text: string, line: number): void {
    const evidence = evidenceIn(text)
    if (evidence !== undefined && !this.#found.has(evidence)) this.#found.set(evidence, `${text} in line ${line}`)
  }

  /** `hasCommas`: commas separate cells, so a point that could separate thousands is a decimal point. */
  settle(hasCommas: boolean): SettledMark {
    const [comma, point] = [this.#found.get('comma'), this.#found.get('point')]
    if (comma !== undefined && point !== undefined) {
      return { ok: false, reason: `the decimal mark is a comma in ${comma}, and a point in ${point}` }
    }
    if (comma !== undefined) return { ok: true, mark: 'comma' }
    if (point !== undefined) return { ok: true, mark: 'point' }
    const open = this.#found.get('comma or thousands')
    const openPoint = this.#found.get('point or thousands')
    if (open === undefined && (openPoint === undefined || hasCommas)) {
      return { ok: true, mark: openPoint === undefined ? undefined : 'point' }
    }
    return {
      ok: false,
      reason: `${open ?? openPoint} has three decimals or a thousands separator, and no cell decides`,
    }
  }
}

const lineFeed = 0x0a

/** Surveys the lines below one header. */
export function noteDecimals(
  survey: DecimalSurvey,
  lines: Uint8Array,
  { columns, separator }: CsvLayout,
  known: readonly Column[],
  firstLine: number,
): void {
  const numbers = columns.flatMap((field, column) => {
    const { cell = 'number' } = known.find(({ name }) => name === field) ?? {}
    return field !== undefined && cell === 'number' ? [column] : []
  })
  const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length)
  let line = firstLine
  for (let start = 0; start < bytes.length; line++) {
    const found = bytes.indexOf(lineFeed, start)
    const end = found === -1 ? bytes.length : found
    const cells = splitCells(bytes.toString('utf8', start, end).trimEnd(), separator) ?? []
    start = end + 1
    if (cellCount(cells, columns.length) !== columns.length) continue
    for (const column of numbers) survey.note((cells[column] ?? '').trim(), line)
  }
}
