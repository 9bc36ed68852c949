/** Cuts a body into chunks of whole lines, and reads what stands before its rows. */

import { foreignContent, looksLikeNdjson, withoutByteOrderMark } from '../formats/content.ts'
import { type CsvLayout, readCsvHeader } from '../formats/csv.ts'
import type { Format } from '../formats/line-reader.ts'
import { type Chunk, type LineLimits, wholeLines } from '../formats/lines.ts'
import type { RowKind } from '../formats/row-kind.ts'
import { arrayBody } from './array-body.ts'
import { BodyFault } from './body-fault.ts'

interface Beginning {
  /** Of a CSV body; without it the lines are NDJSON. */
  layout: CsvLayout | undefined
  /** Columns of the header that are not ours. */
  otherColumns: string[]
}

export interface BodyChunk extends Beginning {
  chunk: Chunk
  /** Lines of the body that belong to no chunk and stand before this one: the header, for the first one. */
  linesBefore: number
}

type HeaderKind = Pick<RowKind<never>, 'columns' | 'hasFurther'>

const lineFeed = 0x0a
const noHeader: Beginning = { layout: undefined, otherColumns: [] }

/** Throws a `BodyFault` where the body is not of the format. */
export async function* bodyChunks(
  body: AsyncIterable<Uint8Array>,
  format: Format,
  kind: HeaderKind,
  limits: LineLimits,
): AsyncGenerator<BodyChunk> {
  // The lines of an array are made here, so their beginning tells nothing.
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
  // An empty body has no chunk, and is none of these formats.
  if (beginning === undefined) begin(new Uint8Array(), format, kind, limits.lineBytesMax)
}

function begin(first: Chunk, format: Format, { columns, hasFurther }: HeaderKind, lineBytesMax: number): BodyChunk {
  const chunk = withoutByteOrderMark(first)
  const foreign = foreignContent(chunk)
  if (foreign !== undefined) throw new BodyFault('CONTENT_UNKNOWN', foreign)
  if (format === 'ndjson') return { ...noHeader, chunk, linesBefore: 0 }
  if (looksLikeNdjson(chunk)) throw new BodyFault('CONTENT_UNKNOWN', 'it is NDJSON; send it as application/x-ndjson')
  const headerEnd = chunk.includes(lineFeed) ? chunk.indexOf(lineFeed) : chunk.length
  if (headerEnd > lineBytesMax) throw new BodyFault('HEADER_INVALID', 'the header is too long')
  const text = Buffer.from(chunk.subarray(0, headerEnd)).toString().replace(/\r$/, '')
  const header = readCsvHeader(text, columns, hasFurther)
  if (!header.ok) throw new BodyFault('HEADER_INVALID', header.reason)
  const { layout, others } = header
  return { layout, otherColumns: others, chunk: chunk.subarray(headerEnd + 1), linesBefore: 1 }
}
