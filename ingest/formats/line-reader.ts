/** The interface of all line formats: one line of bytes becomes the fields of a row. */

import type { Fields } from '../field-names.ts'

/** `json`: an array of NDJSON's objects. */
export type Format = 'csv' | 'ndjson' | 'json'

/**
 * Reads the bytes from `start` to `end`: the fields with the names of the CSV header, or a sentence for an unreadable line. The
 * fields are valid until the next call, which may return the same object.
 */
export interface LineReader {
  (chunk: Buffer, start: number, end: number): Fields | string
  /** True when the last line may have fields without a column. */
  hasOthers?: boolean
  /** Place of the last name among the known names that the reader was given; -1 for an unknown name. */
  knownName?: number
}
