/** Cuts a body into chunks of whole lines, and reads the header before its rows. */

import { foreignContent, looksLikeNdjson, withoutByteOrderMark } from '../formats/content.ts'
import { type CsvHeader, type CsvLayout, readCsvHeader } from '../formats/csv.ts'
import { DecimalSurvey, noteDecimals } from '../formats/decimal-survey.ts'
import { type Chunk, type Format, type LineLimits, wholeLines } from '../formats/lines.ts'
import type { Column, RowKind } from '../formats/row-kind.ts'
import { arrayBody } from './array-body.ts'
import { BodyFault } from './body-bytes.ts'

interface Beginning {
  /** Layout of a CSV body. Without it the lines are NDJSON. */
  layout: CsvLayout | undefined
  /** Unknown columns of the header. */
  otherColumns: string[]
}

export interface BodyChunk extends Beginning {
  chunk: Chunk
  /** Lines of the body outside chunks before this one: the header, for the first chunk. */
  linesBefore: number
}

export type HeaderKind = Pick<RowKind<never>, 'columns' | 'hasCustom'>

const lineFeed = 0x0a
const noHeader: Beginning = { layout: undefined, otherColumns: [] }

/** Throws a `BodyFault` where the body does not match the format. */
export async function* bodyChunks(
  body: AsyncIterable<Uint8Array>,
  format: Format,
  kind: HeaderKind,
  limits: LineLimits,
): AsyncGenerator<BodyChunk> {
  // The lines of an array are generated here, so their beginning does not show the format.
  let beginning = format === 'json' ? noHeader : undefined
  for await (const chunk of wholeLines(format === 'json' ? arrayBody(body) : body, limits)) {
    if (beginning !== undefined) {
      yield { ...beginning, chunk, linesBefore: 0 }
      continue
    }
    const first = begin(chunk, format, kind, limits.lineBytesMax)
    beginning = first
    yield first
  }
  // An empty body has no chunk, and does not match these formats.
  if (beginning === undefined) begin(new Uint8Array(), format, kind, limits.lineBytesMax)
}

function begin(first: Chunk, format: Format, { columns, hasCustom }: HeaderKind, lineBytesMax: number): BodyChunk {
  const chunk = withoutByteOrderMark(first)
  const foreign = foreignContent(chunk)
  if (foreign !== undefined) throw new BodyFault('CONTENT_UNKNOWN', foreign)
  if (format === 'ndjson') return { ...noHeader, chunk, linesBefore: 0 }
  if (looksLikeNdjson(chunk)) throw new BodyFault('CONTENT_UNKNOWN', 'it is NDJSON; send it as application/x-ndjson')
  const { text, rest } = firstLineOf(chunk, lineBytesMax)
  const header = readCsvHeader(text, columns, hasCustom)
  return { ...beginningOf(header, ''), chunk: rest, linesBefore: 1 }
}

function firstLineOf(chunk: Chunk, lineBytesMax: number): { text: string; rest: Chunk } {
  const end = chunk.includes(lineFeed) ? chunk.indexOf(lineFeed) : chunk.length
  if (end > lineBytesMax) throw new BodyFault('HEADER_INVALID', 'the header is too long')
  const text = Buffer.from(chunk.subarray(0, end)).toString().replace(/\r$/, '')
  return { text, rest: chunk.subarray(end + 1) }
}

function beginningOf(header: CsvHeader, place: string): Beginning {
  if (!header.ok) throw new BodyFault('HEADER_INVALID', `${place}${header.reason}`)
  return { layout: header.layout, otherColumns: header.others }
}

/** Returns the rest of a chunk that was read up to a repeated header; `line` is its number. */
export function beginAgain(
  { chunk, layout }: BodyChunk,
  { columns, hasCustom }: HeaderKind,
  lineBytesMax: number,
  line: number,
): BodyChunk {
  const { text, rest } = firstLineOf(chunk, lineBytesMax)
  const beginning = beginningOf(readCsvHeader(text, columns, hasCustom), `line ${line} is a header again, but `)
  const decimal = layout?.decimal
  return { ...beginning, layout: beginning.layout && { ...beginning.layout, decimal }, chunk: rest, linesBefore: 1 }
}

/**
 * Adds the decimal mark of the body, which the first lines with one decide. Where commas separate the cells, it is a point unless
 * the sender states another. `line` is the number of the chunk's first line.
 */
export function withDecimal(body: BodyChunk, known: readonly Column[], line: number): BodyChunk {
  const { layout, chunk } = body
  if (layout === undefined || layout.separator === ',' || layout.decimal !== undefined) return body
  const survey = new DecimalSurvey()
  noteDecimals(survey, chunk, layout, known, line)
  const settled = survey.settle(false)
  if (settled.ok) return { ...body, layout: { ...layout, decimal: settled.mark } }
  throw new BodyFault('CONTENT_UNKNOWN', `${settled.reason}; imports take ?decimal=comma or ?decimal=point`)
}
