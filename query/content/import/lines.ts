/** Reads a body of NDJSON: a value for each valid line, and the reason for each invalid one. */

import { isUtf8 } from 'node:buffer'
import type { z } from 'zod'
import { lineBytesMax, linesMax, type Reject } from './answer.ts'

export interface Lines<Value> {
  values: Value[]
  rejected: number
  rejects: Reject[]
  /** Top-level fields that the shape does not know. */
  ignoredFields: string[]
}

const lineFeed = 0x0a
const faultsShownMax = 5
const ignoredFieldsMax = 20
const ignoredFieldCharactersMax = 64

export function readLines<Value>(
  body: Buffer,
  shape: z.ZodType<Value>,
  knownFields?: ReadonlySet<string>,
): Lines<Value> {
  const values: Value[] = []
  const rejects: Reject[] = []
  const ignored = new Set<string>()
  let rejected = 0
  let line = 1
  for (let start = 0; start < body.length; line++) {
    const found = body.indexOf(lineFeed, start)
    const end = found === -1 ? body.length : found
    const verdict = readLine(body.subarray(start, end), shape)
    if (verdict !== undefined && 'value' in verdict) {
      values.push(verdict.value)
      if (knownFields !== undefined) noteUnknown(verdict.fields, knownFields, ignored)
    } else if (verdict !== undefined) {
      rejected++
      if (rejects.length < linesMax) rejects.push({ line, ...verdict })
    }
    start = end + 1
  }
  return { values, rejected, rejects, ignoredFields: [...ignored] }
}

type Verdict<Value> = { value: Value; fields: object } | Omit<Reject, 'line'> | undefined

/** Undefined for an empty line. */
function readLine<Value>(bytes: Buffer, shape: z.ZodType<Value>): Verdict<Value> {
  if (bytes.length > lineBytesMax) return { code: 'LINE_TOO_LONG', reason: `is longer than ${lineBytesMax} bytes` }
  if (!isUtf8(bytes)) return { code: 'LINE_MALFORMED', reason: 'is not UTF-8' }
  const text = bytes.toString().trim()
  if (text === '') return undefined
  const parsed = parseJson(text)
  if (!parsed.ok) return { code: 'LINE_MALFORMED', reason: parsed.reason }
  const checked = shape.safeParse(parsed.fields)
  if (checked.success) return { value: checked.data, fields: parsed.fields }
  return { code: 'FILE_INVALID', reason: sentenceOf(checked.error) }
}

type Parsed = { ok: true; fields: object } | { ok: false; reason: string }

function parseJson(text: string): Parsed {
  try {
    const fields: unknown = JSON.parse(text)
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields)) return { ok: true, fields }
    return { ok: false, reason: 'is not an object' }
  } catch {
    return { ok: false, reason: 'is not JSON' }
  }
}

function sentenceOf({ issues }: z.ZodError): string {
  const faults = issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
  const more = faults.length - faultsShownMax
  return [...faults.slice(0, faultsShownMax), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

function noteUnknown(fields: object, known: ReadonlySet<string>, ignored: Set<string>): void {
  for (const name in fields) {
    if (!known.has(name) && ignored.size < ignoredFieldsMax) ignored.add(name.slice(0, ignoredFieldCharactersMax))
  }
}
