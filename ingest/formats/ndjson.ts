/** NDJSON: one JSON object a line, with the field names of the API or of the CSV header. */

import type { Fields } from '../field-names.ts'
import { FlatObjectReader } from './flat-object.ts'
import type { KnownNames } from './known-names.ts'
import type { LineReader } from './line-reader.ts'
import type { Column } from './row-kind.ts'

/** `names`: the known names, for rows with one text column that holds their name. */
export function createNdjsonReader(columns: readonly Column[], names?: KnownNames): LineReader {
  const flat = new FlatObjectReader(columns, names)
  const readLine: LineReader = (chunk, start, end) => {
    const fields = flat.read(chunk, start, end)
    readLine.hasOthers = fields === undefined
    readLine.knownName = fields === undefined ? -1 : flat.knownName
    return fields ?? readObject(chunk.toString('utf8', start, end)) ?? 'is not a JSON object'
  }
  return readLine
}

function readObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
