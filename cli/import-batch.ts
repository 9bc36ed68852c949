/** A part of a file that fits into one request. */

import type { Format } from '../ingest/formats/lines.ts'
import type { DecimalMark } from '../ingest/formats/number.ts'
import type { RejectCode } from '../ingest/formats/reject.ts'

export interface Batch {
  format: Exclude<Format, 'json'>
  /** Bytes to send: the header of the file if it has one, and then the lines. */
  body: Buffer<ArrayBuffer>
  /** Offset of the first line in the body. */
  linesAt: number
  /** Number of the first of the lines in the file. */
  firstLine: number
  lineCount: number
  /** Bytes of the file, as it is stored, that were read so far. */
  fileBytesRead: number
  /** The decimal mark of the file, for lines that are sent unchanged. */
  decimal?: DecimalMark | undefined
  /** Present if the lines were made from others. */
  mapped?: MappedLines
}

interface MappedLines {
  /** The number in the file of each. */
  sourceLines: readonly number[]
  rejects: readonly LineReject[]
  ignoredColumns: readonly string[]
  /** Ignored columns that hold numbers or times. */
  unreadColumns: readonly string[]
  /** Sentences about the choice between several possible readings of the file. */
  notices: readonly string[]
  /** Lines that replaced a value of an earlier line in the same reading. */
  replaced: number
}

/** A line of the file that was not sent. */
export interface LineReject {
  line: number
  code: RejectCode
  reason: string
  /** The line, or the beginning of it. */
  text: string
}
