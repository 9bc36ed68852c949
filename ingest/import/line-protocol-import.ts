/**
 * Imports bodies of line protocol: a thread reads and encodes them, and they are completely on disk when the promise resolves.
 */

import { Piscina } from 'piscina'
import { bug } from '../../store/limits/bug.ts'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import { ofResolved } from '../formats/encode.ts'
import { arraysOfSightings } from '../formats/field-sightings.ts'
import type { EntityMetric } from '../formats/line-protocol-entities.ts'
import type { LineNames } from '../formats/line-protocol-names.ts'
import type { Precision } from '../formats/line-protocol-text.ts'
import type { Reject } from '../formats/reject.ts'
import { buffersOf } from '../formats/rows.ts'
import type { Ingest } from '../ingest.ts'
import { expiredReason, type Ranges, type TimeLimits } from '../reading.ts'
import type { DeviceRef } from '../readings-table.ts'
import type { RemoteForm } from '../remote/remote-body.ts'
import type { KnownMetric } from '../remote/sample-lines.ts'
import { createBulkJournal } from './bulk-journal.ts'
import { idleMsMax } from './import-pool.ts'
import type { EncodedLines, EncodeLinesTask, ForgottenNames, ReadLines, ReadLinesTask } from './line-protocol-worker.ts'
import { arraysOfNames, arraysOfSeries, packSeries, packTexts, textIndexes } from './packed-names.ts'
import { createNameOf, type LineResolver, type ResolvedNames, readResolved, refusedLines } from './resolve-lines.ts'

export interface LineImporterOptions extends TimeLimits {
  ingest: Pick<Ingest, 'append' | 'term' | 'stampUs' | 'clockUs' | 'status'>
  names: LineNames
  ranges: Ranges
  bodyBytesMax: number
  /** The metrics of the registry, where lines may be Home Assistant's entities. */
  entityMetrics?: (() => readonly EntityMetric[]) | undefined
  /** The metrics of the registry, for samples of remote writers. */
  remoteMetrics?: (() => readonly KnownMetric[]) | undefined
}

export interface LineBody extends LineResolver {
  /** Transferred: it is empty afterwards. */
  bytes: Uint8Array<ArrayBuffer>
  isGzip: boolean
  /** Set for samples of a remote writer. */
  form?: RemoteForm | undefined
  precision: Precision
  /** Device of lines that name none. */
  deviceDefault: string | undefined
  /** Called before the readings of these devices are stored. Returns why they may not be stored. */
  refusal?: (devices: readonly DeviceRef[]) => Promise<LineRefusal | undefined>
}

type LineRefusal = 'UNAUTHENTICATED' | 'FORBIDDEN' | 'later'

/** `bytes`: size of the uncompressed body; 0 where it was not read. */
export type LineImport = { bytes: number } & (
  | {
      kind: 'stored'
      /** Lines with a point. */
      points: number
      /** Stored readings: lines of one device and time form one reading. */
      readings: number
      /** Rejected lines. The first are listed. */
      rejected: number
      rejects: Reject[]
      /** Lines stored without their values out of range. The first are listed. */
      leftOut: ListedLines
      /** Entities with an assumed unit. The first are listed. */
      assumed: ListedLines
      /** Samples of histograms that are left out. */
      partsIgnored: number
      /** Devices of the stored readings. */
      devices: DeviceRef[]
    }
  | { kind: 'broken'; reason?: string }
  | { kind: LineRefusal | 'too long' | 'full' | 'closing' | 'unknown' }
)

export interface LineImporter {
  run(body: LineBody): Promise<LineImport>
  /** Finishes running imports. It may be called twice. */
  close(): Promise<void>
}

interface ListedLines {
  rejected: number
  rejects: Reject[]
}

function expiredLines({ expired }: EncodedLines, fromMs: number, nameOf: (index: number) => string): Reject[] {
  // Without a retention there is no earliest time, and nothing has expired.
  return expired.map(({ line, name }) => {
    return { line, device: nameOf(name), code: 'READING_INVALID', reason: `timestamp ${expiredReason(fromMs)}` }
  })
}

/** The limit is the number of rejects that fit a message to a person. */
const rejectsMax = 10

export function createLineImporter(options: LineImporterOptions): LineImporter {
  const {
    ingest,
    names,
    ranges,
    aheadMsMax,
    earliestMs,
    bodyBytesMax,
    entityMetrics,
    remoteMetrics = () => [],
  } = options
  // The thread gets only these: other properties of the caller's options may not be cloneable.
  const readOptions = { names, ranges, aheadMsMax, bodyBytesMax }
  const thread = createLineThread()
  const journal = createBulkJournal(ingest)
  const running = new Set<Promise<LineImport>>()
  let closing: Promise<void> | undefined

  /** A body read again needs the metrics that it has made. */
  function readAs(form: RemoteForm | undefined): typeof thread.read {
    if (form === undefined) return thread.read
    const metrics = remoteMetrics()
    return task => {
      const remote = { form, metrics, registered: remoteMetrics() }
      return thread.read({ ...task, remote, hasFineTimes: true })
    }
  }

  async function importBody(sentBody: LineBody): Promise<LineImport> {
    const { resolve, known, fields, refusal, bytes: sent, form, ...body } = sentBody
    const nowMs = Math.floor(ingest.clockUs() / 1000)
    const asOfNow = { earliestMs: earliestMs?.(), entityMetrics: entityMetrics?.() }
    const task = { ...readOptions, nowMs, ...asOfNow, ...body, body: sent, rejectsMax }
    const isInTexts = known === undefined
    const read = await readResolved(readAs(form), { ...task, isInTexts }, { resolve, known, fields })
    if (read.kind !== 'read') return read
    const { result, names, resolved } = read
    const { rows, points, bytes } = result
    const nameOf = createNameOf(names.names, resolved)
    const refused = refusedLines(result, resolved, nameOf, rejectsMax)
    const fromMs = earliestMs?.()
    const receiptUs = ingest.stampUs()
    if (receiptUs === undefined) return { kind: 'full', bytes }
    const times = { receiptUs, earliestMs: fromMs }
    const encoded = await thread.encode(resolved, { rows, ...names, ...times, rejectsMax })
    const written = resolved.filter((each): each is DeviceRef => 'number' in each)
    const ended = await refusal?.(written)
    if (ended !== undefined) return { kind: ended, bytes }
    const outcome = await journal.append(encoded.records)
    detachBuffers([encoded.records])
    if (outcome !== 'stored') return { kind: outcome, bytes }
    const expired = expiredLines(encoded, fromMs ?? 0, nameOf)
    detachBuffers([...arraysOfNames(names.names), ...arraysOfSightings(result.sightings), result.lineCounts])
    const rejects = [...result.rejects, ...refused.rejects, ...expired].toSorted((a, b) => a.line - b.line)
    const counts = { points, readings: encoded.count, rejected: result.rejected + refused.count + encoded.expiredCount }
    const lists = {
      rejects: rejects.slice(0, rejectsMax),
      leftOut: ofResolved(result.leftOut, resolved, nameOf),
      assumed: ofResolved(result.assumed, resolved, nameOf),
    }
    return { kind: 'stored', bytes, ...counts, ...lists, partsIgnored: result.partsIgnored, devices: written }
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

  function close(): Promise<void> {
    closing ??= Promise.allSettled(running).then(thread.close)
    return closing
  }

  return { run, close }
}

/** One thread reads more than a million lines a second. */
const threadsMax = 1

/** The first body starts the thread, which ends some minutes after the last. */
export function createLineThread() {
  const pool = new Piscina({
    filename: new URL('./line-protocol-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: threadsMax,
    idleTimeout: idleMsMax,
    // The callers limit the bytes of waiting bodies.
    maxQueue: Number.POSITIVE_INFINITY,
    resourceLimits: threadLimits.readingsImport,
  })

  async function encodeRows(task: EncodeLinesTask): Promise<EncodedLines | ForgottenNames> {
    const encoded = await pool.run(task, { name: 'encode', transferList: buffersOf(task.rows) })
    detachBuffers(arraysOfSeries(task.series))
    return encoded
  }

  async function encode(resolved: ResolvedNames, task: Omit<EncodeLinesTask, 'series'>): Promise<EncodedLines> {
    if (task.rows.count === 0) return { records: new Uint8Array(), count: 0, expired: [], expiredCount: 0 }
    const encoded = await encodeRows({ ...task, series: packSeries(resolved, textIndexes(task.names)) })
    if (!('kind' in encoded)) return encoded
    const nameOf = createNameOf(task.names, resolved)
    const texts = resolved.map((_, index) => nameOf(index))
    const names = { count: texts.length, parts: packTexts(texts), partsPerName: 1, known: undefined }
    const series = packSeries(resolved, textIndexes(names))
    const again = await encodeRows({ ...task, rows: encoded.rows, names, series })
    if ('kind' in again) throw bug('rows with names as text need no known names')
    return again
  }

  return {
    /** Transfers the bytes of the body. */
    read: (task: ReadLinesTask): Promise<ReadLines> =>
      pool.run(task, { name: 'read', transferList: [task.body.buffer] }),
    /** Transfers the rows. */
    encode,
    close: () => pool.destroy(),
  }
}
