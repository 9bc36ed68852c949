/**
 * The main thread's side of a body that is read in a thread: passes on its bytes, resolves its names, and receives its records.
 */

import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { bug } from '../../store/limits/bug.ts'
import { detachBuffers, ownsBuffer } from '../../store/limits/detach-buffers.ts'
import type { Unresolved } from '../formats/encode.ts'
import { arraysOfSightings, type PackedFields } from '../formats/field-sightings.ts'
import type { Series } from '../formats/row-kind.ts'
import { BodyFault, type BodyLimits, limitedBody } from './body-bytes.ts'
import {
  type BodyCommand,
  type BodyPiece,
  type BodyReport,
  type BodyTimes,
  type ChunkRecords,
  type FromThread,
  Mailbox,
  type ToThread,
} from './body-channel.ts'
import {
  arraysOfNames,
  arraysOfSeries,
  type PackedNames,
  type PackedSeries,
  packSeries,
  textIndexes,
  unpackNames,
} from './packed-names.ts'
import { type FieldResolver, type FindKnown, findKnown, resolveFields } from './resolve-names.ts'

/** The series of each name, or why it has none. Rejects when the registry is unavailable. */
export type ResolveNames = (names: readonly (readonly string[])[]) => Promise<(Series | Unresolved)[]>

/** Records for the journal, and the rejects of the chunk. */
export interface ReadyChunk extends ChunkRecords {
  /** The resolved series of the records. */
  series: readonly Series[]
}

type BodyStep = ({ kind: 'ready' } & ReadyChunk) | Extract<BodyReport, { kind: 'end' | 'failed' }>

export interface ThreadBodyOptions {
  port: MessagePort
  /** Destroyed when reading ends early. */
  body: Readable
  limits: BodyLimits
  times: () => BodyTimes
  resolve: ResolveNames
  /** Finds devices whose names the thread has already resolved. */
  known: FindKnown | undefined
  /** Resolves fields that may be stored without a column. */
  fields: FieldResolver | undefined
}

export class ThreadBody {
  readonly #options: ThreadBodyOptions
  readonly #pieces: AsyncGenerator<Uint8Array>
  readonly #reports = new Mailbox<BodyReport>()
  #bytesIn = 0
  #bytesRead = 0

  constructor(options: ThreadBodyOptions) {
    this.#options = options
    this.#pieces = limitedBody(options.body, options.limits)
    options.port.on('message', (message: FromThread) => {
      if (message.kind === 'more') this.#sendPiece().catch(error => this.fail(error))
      else this.#take(message)
    })
  }

  /** The next chunk, or the end of the body. The chunk after it is read at the next call. */
  async next(): Promise<BodyStep> {
    this.#send({ kind: 'next' })
    let report = await this.#reports.take()
    let known: readonly Series[] = []
    if (report.kind === 'names') {
      const resolved = await resolveAll(report, this.#options, indexes => this.#textsOf(indexes))
      known = resolved.known
      const { series, fields } = resolved
      const buffers = arraysOfSeries(series).map(({ buffer }) => buffer)
      this.#send({ kind: 'series', series, fields }, buffers)
      report = await this.#reports.take()
    }
    return report.kind === 'records' ? { ...report, kind: 'ready', series: known } : (report as BodyStep)
  }

  /** Size of the body so far, compressed or uncompressed, whichever is larger. */
  bytes(): number {
    return Math.max(this.#bytesIn, this.#bytesRead)
  }

  /** Call it when the thread has failed: nothing arrives any more. */
  fail(error: Error): void {
    this.#reports.close(error)
  }

  stop(): void {
    this.#options.body.destroy()
    this.#options.port.close()
  }

  async #textsOf(indexes: readonly number[]): Promise<PackedNames> {
    this.#send({ kind: 'texts', indexes: Uint32Array.from(indexes) })
    const report = await this.#reports.take()
    if (report.kind !== 'texts') throw bug(`${report.kind} came instead of texts`)
    return report.names
  }

  #take(report: BodyReport): void {
    this.#bytesRead = report.bytes
    this.#reports.put(report)
  }

  async #sendPiece(): Promise<void> {
    const piece = await nextPiece(this.#pieces)
    if (piece.kind !== 'piece') {
      this.#send(piece)
      return
    }
    this.#bytesIn += piece.bytes.length
    this.#send(piece, [piece.bytes.buffer])
  }

  #send(message: BodyPiece | BodyCommand, transfer: ArrayBuffer[] = []): void {
    const timed: ToThread = { ...message, times: this.#options.times() }
    this.#options.port.postMessage(timed, transfer)
  }
}

async function nextPiece(pieces: AsyncGenerator<Uint8Array>): Promise<BodyPiece> {
  try {
    const { done, value } = await pieces.next()
    if (done === true) return { kind: 'end' }
    return { kind: 'piece', bytes: ownsBuffer(value) ? value : new Uint8Array(value) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { kind: 'broken', code: error instanceof BodyFault ? error.code : 'BODY_BROKEN', reason }
  }
}

const namesPerTurn = 2000

interface Resolved {
  /** Devices and stations whose rows in the chunk may be stored. */
  known: Series[]
  series: PackedSeries
  fields: PackedFields | undefined
}

async function resolveAll(
  { names, sightings }: Extract<BodyReport, { kind: 'names' }>,
  { resolve, known, fields }: Pick<ThreadBodyOptions, 'resolve' | 'known' | 'fields'>,
  textsOf: (indexes: readonly number[]) => Promise<PackedNames>,
): Promise<Resolved> {
  const { found, changed } = await findKnown(names, known)
  const asTexts = { resolve, fields, isTaken: sightings?.isTaken, found }
  const inTexts = textIndexes(names)
  await resolveTexts(names, inTexts, asTexts)
  if (changed.length > 0) await resolveTexts(await textsOf(changed), changed, asTexts)
  const resolved = found as (Series | Unresolved)[]
  const series = resolved.filter((each, index) => isKnown(each, sightings?.isTaken[index] !== 0))
  const packed = sightings === undefined ? undefined : await resolveFields(resolved, sightings, fields)
  const texts = [...inTexts, ...changed].sort((a, b) => a - b)
  detachBuffers([...arraysOfNames(names), ...(sightings === undefined ? [] : arraysOfSightings(sightings))])
  return { known: series as Series[], series: packSeries(resolved, texts), fields: packed }
}

interface Resolving {
  resolve: ResolveNames
  fields: FieldResolver | undefined
  isTaken: Uint8Array | undefined
  /** The index is the name's. */
  found: (Series | Unresolved | undefined)[]
}

/** Slices let the main thread do other work in between. */
async function resolveTexts(names: PackedNames, indexes: readonly number[], resolving: Resolving): Promise<void> {
  const { resolve, fields, isTaken: isAnyTaken, found } = resolving
  for (let from = 0; from < indexes.length; from += namesPerTurn) {
    if (from > 0) await nextTurn()
    const slice = unpackNames(names, from, from + namesPerTurn)
    const isTaken = isAnyTaken && Uint8Array.from(slice, (_, at) => isAnyTaken[indexes[from + at] as number] as number)
    const resolved = isTaken?.includes(0) ? await resolveSome(slice, isTaken, resolve, fields) : await resolve(slice)
    for (let at = 0; at < resolved.length; at++) found[indexes[from + at] as number] = resolved[at]
  }
}

/** Rejected rows may be readings of a device that lists its metrics, but not of another one. */
function isKnown(found: Series | Unresolved, isTaken: boolean): boolean {
  return 'number' in found && (isTaken || Array.isArray(found.metrics))
}

/** Names whose rows were all rejected must not create devices. */
async function resolveSome(
  names: string[][],
  isTaken: Uint8Array,
  resolve: ResolveNames,
  fields: FieldResolver | undefined,
): Promise<(Series | Unresolved)[]> {
  const taken = await resolve(names.filter((_, index) => isTaken[index] === 1))
  const refused = fields?.find(names.filter((_, index) => isTaken[index] === 0).map(([name = '']) => name)) ?? []
  let [takenAt, refusedAt] = [0, 0]
  return names.map((_, index) => {
    const found = isTaken[index] === 1 ? taken[takenAt++] : refused[refusedAt++]
    return found ?? notLookedUp
  })
}

/** Its rows stay rejected. */
const notLookedUp: Unresolved = { code: 'DEVICE_UNKNOWN', reason: 'was not looked up' }
