/** Bodies of line protocol: read and encoded by a thread, and on disk as a whole when the promise resolves. */

import { Piscina } from 'piscina'
import { detachBuffers } from '../../limits/detach-buffers.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import type { EntityMetric } from '../formats/line-protocol-entities.ts'
import type { LineNames } from '../formats/line-protocol-names.ts'
import type { Precision } from '../formats/line-protocol-time.ts'
import type { Reject, RejectCode } from '../formats/reject.ts'
import type { PackedFields } from '../formats/resolved-fields.ts'
import { buffersOf } from '../formats/rows.ts'
import type { Ingest } from '../ingest.ts'
import { expiredReason, type Ranges, type TimeLimits } from '../reading.ts'
import type { DeviceRef } from '../readings-table.ts'
import { createBulkJournal } from './bulk-journal.ts'
import { idleMsMax } from './import-pool.ts'
import { NamesUnavailable } from './import-session.ts'
import type { EncodedLines, EncodeLinesTask, ReadLines, ReadLinesTask } from './line-protocol-worker.ts'
import { type FieldResolver, resolveFields } from './resolve-fields.ts'

export interface LineImporterOptions extends TimeLimits {
  ingest: Pick<Ingest, 'append' | 'stampUs' | 'clockUs' | 'status'>
  names: LineNames
  ranges: Ranges
  bodyBytesMax: number
  /** The metrics of the registry, where lines may be those of entities of Home Assistant. */
  entityMetrics?: (() => readonly EntityMetric[]) | undefined
}

/** Why the lines of a device are not taken. */
interface Unresolved {
  code: RejectCode
  reason: string
}

export interface LineBody {
  /** Handed over: it is empty afterwards. */
  bytes: Uint8Array<ArrayBuffer>
  isGzip: boolean
  precision: Precision
  /** Whose readings are in lines that name no device. */
  deviceDefault: string | undefined
  /** The device of each name, or why its lines are not taken; `later` where that cannot be told at present. */
  resolve: (names: readonly string[]) => Promise<(DeviceRef | Unresolved)[] | 'later'>
  /** What becomes of fields without a column; without it, none is a metric. */
  fields?: Omit<FieldResolver, 'find'> | undefined
  /** Asked before the readings of these devices are stored: why they are not, though they could be read. */
  refusal?: (devices: readonly DeviceRef[]) => Promise<LineRefusal | undefined>
}

type LineRefusal = 'UNAUTHENTICATED' | 'FORBIDDEN' | 'later'

/** `bytes` are those of the body without its compression; none where it was not read. */
export type LineImport = { bytes: number } & (
  | {
      kind: 'stored'
      /** Lines with a point. */
      points: number
      /** Readings that are stored: lines of one device and time are one. */
      readings: number
      /** Lines that were not taken; the first of them are listed. */
      rejected: number
      rejects: Reject[]
      /** Of the readings that were. */
      devices: DeviceRef[]
    }
  | { kind: LineRefusal | 'too long' | 'broken' | 'full' | 'closing' | 'unknown' }
)

export interface LineImporter {
  run(body: LineBody): Promise<LineImport>
  /** Finishes what runs. May be called twice. */
  close(): Promise<void>
}

/** As many as fit a message that people read. */
const rejectsMax = 10
/** One thread reads more than a million lines a second. */
const threadsMax = 1

export function createLineImporter(options: LineImporterOptions): LineImporter {
  const { ingest, names, ranges, aheadMsMax, earliestMs, bodyBytesMax, entityMetrics } = options
  // These go to the thread, and what a caller has besides them may not be able to.
  const readOptions = { names, ranges, aheadMsMax, bodyBytesMax }
  const pool = new Piscina({
    filename: new URL('./line-protocol-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: idleMsMax,
    // Whoever hands over bodies bounds their bytes.
    maxQueue: Number.POSITIVE_INFINITY,
    resourceLimits: threadLimits.readingsImport,
  })
  const journal = createBulkJournal(ingest)
  const running = new Set<Promise<LineImport>>()
  let closing: Promise<void> | undefined

  async function readBody(task: ReadLinesTask): Promise<ReadLines> {
    return await pool.run(task, { name: 'read', transferList: [task.body.buffer] })
  }

  async function encode(task: EncodeLinesTask): Promise<EncodedLines> {
    return await pool.run(task, { name: 'encode', transferList: buffersOf(task.rows) })
  }

  async function importBody({ resolve, fields, refusal, bytes: sent, ...body }: LineBody): Promise<LineImport> {
    const nowMs = Math.floor(ingest.clockUs() / 1000)
    const known = { earliestMs: earliestMs?.(), entityMetrics: entityMetrics?.() }
    const task = { ...readOptions, nowMs, ...known, ...body, body: sent, rejectsMax }
    const read = await readResolved(readBody, task, { resolve, fields })
    if (read.kind !== 'read') return read
    const { result, resolved } = read
    const { rows, points, bytes } = result
    const refused = refusedLines(result, resolved)
    const found = resolved.map(each => ('reason' in each ? undefined : each))
    // What is known of a device besides these may not go to a thread.
    const devices = found.map(device => device && { number: device.number, symbol: device.symbol })
    const fromMs = earliestMs?.()
    const encoded = await encodeRows({ rows, devices, receiptUs: ingest.stampUs(), earliestMs: fromMs, rejectsMax })
    const written = found.filter(device => device !== undefined)
    const ended = await refusal?.(written)
    if (ended !== undefined) return { kind: ended, bytes }
    const outcome = await journal.append(encoded.records)
    detachBuffers([encoded.records])
    if (outcome !== 'stored') return { kind: outcome, bytes }
    const expired = encoded.expired.map(({ line, name }): Reject => {
      const reason = `timestamp ${expiredReason(fromMs ?? 0)}`
      return { line, device: result.names[name] as string, code: 'READING_INVALID', reason }
    })
    const rejects = [...result.rejects, ...refused.rejects, ...expired].toSorted((a, b) => a.line - b.line)
    const counts = { points, readings: encoded.count, rejected: result.rejected + refused.count + encoded.expiredCount }
    return { kind: 'stored', bytes, ...counts, rejects: rejects.slice(0, rejectsMax), devices: written }
  }

  async function encodeRows(task: EncodeLinesTask): Promise<EncodedLines> {
    return task.rows.count === 0 ? nothing() : await encode(task)
  }

  async function run(body: LineBody): Promise<LineImport> {
    if (closing !== undefined) return { kind: 'closing', bytes: 0 }
    const work = importBody(body)
    running.add(work)
    try {
      return await work
    } finally {
      running.delete(work)
    }
  }

  async function finish(): Promise<void> {
    await Promise.allSettled(running)
    await pool.destroy()
  }

  function close(): Promise<void> {
    closing ??= finish()
    return closing
  }

  return { run, close }
}

interface ResolvedLines {
  kind: 'read'
  result: Extract<ReadLines, { kind: 'read' }>
  resolved: (DeviceRef | Unresolved)[]
}

type Read = (task: ReadLinesTask) => Promise<ReadLines>

/** A line whose verdict hangs on what its device has is read again when that is known. */
async function readResolved(
  read: Read,
  task: ReadLinesTask,
  { resolve, fields: resolver }: Pick<LineBody, 'resolve' | 'fields'>,
): Promise<ResolvedLines | Exclude<LineImport, { kind: 'stored' }>> {
  const first = await read(task)
  if (first.kind !== 'read') return first
  const { bytes } = first
  const resolved = await resolve(first.names)
  const fields = resolved === 'later' ? resolved : await fieldsOf(resolved, first, resolver)
  if (resolved === 'later' || fields === 'later') return { kind: 'later', bytes }
  if (fields === undefined) {
    detachBuffers([first.body])
    return { kind: 'read', result: first, resolved }
  }
  const result = await read({ ...task, body: first.body, fields })
  return result.kind === 'read' ? { kind: 'read', result, resolved } : result
}

/** Undefined where the lines need not be read again. */
async function fieldsOf(
  devices: readonly (DeviceRef | Unresolved)[],
  { sightings }: Extract<ReadLines, { kind: 'read' }>,
  resolver: LineBody['fields'],
): Promise<PackedFields | 'later' | undefined> {
  try {
    return await resolveFields(devices, sightings, resolver)
  } catch (error) {
    if (error instanceof NamesUnavailable) return 'later'
    throw error
  }
}

function nothing(): EncodedLines {
  return { records: new Uint8Array(), count: 0, expired: [], expiredCount: 0 }
}

/** The lines of devices that are not there, each device with its first line. */
function refusedLines(
  { rows, names, lineCounts }: Extract<ReadLines, { kind: 'read' }>,
  resolved: readonly (DeviceRef | Unresolved)[],
): { count: number; rejects: Reject[] } {
  const rejects: Reject[] = []
  let count = 0
  const missing = new Map<number, Unresolved>()
  for (const [index, each] of resolved.entries()) {
    if (!('reason' in each)) continue
    count += lineCounts[index] ?? 0
    missing.set(index, each)
  }
  for (let row = 0; row < rows.count && missing.size > 0 && rejects.length < rejectsMax; row++) {
    const index = rows.names[row] as number
    const unresolved = missing.get(index)
    if (unresolved === undefined) continue
    missing.delete(index)
    const device = names[index] as string
    rejects.push({ line: rows.lines[row] as number, device, ...unresolved })
  }
  return { count, rejects }
}
