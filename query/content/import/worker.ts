/** The thread that turns lines into rows, so that the main thread stays free. It keeps nothing between calls. */

import { move, transferableSymbol, valueSymbol } from 'piscina'
import { ContentFileLine, ContentFileName } from '../line.ts'
import type { Reject } from './answer.ts'
import { type Batch, toBatch } from './batch.ts'
import { readLines } from './lines.ts'

export interface ReadTask {
  body: Uint8Array<ArrayBuffer>
}

interface Report {
  accepted: number
  rejected: number
  rejects: Reject[]
}

export interface ReadFiles extends Report, Omit<Batch, 'files'> {
  ignoredFields: string[]
  /** The highest requested id that the sequence can reach. */
  highestId: number
  /** JSON for PostgreSQL. */
  files: Uint8Array<ArrayBuffer>
}

export interface ReadNames extends Report {
  names: Uint8Array<ArrayBuffer>
}

const knownFields = new Set(Object.keys(ContentFileLine.shape))
/** Half of the ids are reserved for files without a requested id. */
const sequenceIdsBelow = 2 ** 52

export function readFiles({ body }: ReadTask): ReadFiles {
  const { values, rejected, rejects, ignoredFields } = readLines(bufferOf(body), ContentFileLine, knownFields)
  const { files: rows, ...batch } = toBatch(values)
  const files = jsonBytes(rows)
  const highestId = values.reduce((highest, { id = 0 }) => (id < sequenceIdsBelow ? Math.max(highest, id) : highest), 0)
  return handOver({ accepted: values.length, rejected, rejects, ignoredFields, highestId, ...batch, files }, files)
}

export function readNames({ body }: ReadTask): ReadNames {
  const { values, rejected, rejects } = readLines(bufferOf(body), ContentFileName)
  const names = jsonBytes(values)
  return handOver({ accepted: values.length, rejected, rejects, names }, names)
}

function bufferOf(body: Uint8Array<ArrayBuffer>): Buffer {
  return Buffer.from(body.buffer, body.byteOffset, body.length)
}

function jsonBytes(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(value))
}

/** Transfers the bytes with the result instead of copying them. The pool unwraps the returned value. */
function handOver<Result extends object>(result: Result, bytes: Uint8Array<ArrayBuffer>): Result {
  const wrapped: unknown = move({ [transferableSymbol]: [bytes.buffer], [valueSymbol]: result })
  return wrapped as Result
}
