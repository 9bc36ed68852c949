/** What each line format provides: one line of bytes becomes the fields of a row. */

import type { Fields } from '../field-names.ts'

/** `json`: an array of what the lines of NDJSON hold. */
export type Format = 'csv' | 'ndjson' | 'json'

/**
 * Reads the bytes from `start` to `end`: the fields with the names of the CSV header, or a sentence that says why the
 * line cannot be read at all. The fields are valid until the next call, which may hand back the same object.
 */
export interface LineReader {
  (chunk: Buffer, start: number, end: number): Fields | string
  /** Whether what was read last may have other fields than those of columns. */
  hasOthers?: boolean
  /** The place of the name in what was read last, among the known ones that the reader was given; -1 of a name that is not known. */
  knownName?: number
}
