/** NDJSON: one JSON object a line, with the field names of the logger API or of the CSV header. */

import type { Fields } from '../reading.ts'
import type { LineReader } from './line-reader.ts'

const spacedNames = [
  ['battery voltage', 'battery_voltage'],
  ['battery percentage', 'battery_percentage'],
] as const

export function createNdjsonReader(): LineReader {
  return (chunk, start, end) => {
    const fields = readObject(chunk.toString('utf8', start, end))
    if (fields === undefined) return 'is not a JSON object'
    for (const [spaced, name] of spacedNames) fields[name] ??= fields[spaced]
    return fields
  }
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
