/** A body that is read in the thread, as main has it: hands it the bytes as they come, looks its names up, and gets its records. */

import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import type { Unresolved } from '../formats/encode.ts'
import type { Series } from '../formats/row-kind.ts'
import { BodyFault } from './body-fault.ts'
import type {
  BodyCommand,
  BodyPiece,
  BodyReport,
  BodyTimes,
  ChunkRecords,
  FromThread,
  ToThread,
} from './body-messages.ts'
import { type BodyLimits, limitedBody } from './limited-body.ts'
import { Mailbox } from './mailbox.ts'
import { type PackedNames, unpackNames } from './packed-names.ts'
import { type PackedSeries, SeriesPacker } from './packed-series.ts'

/** The series of each name, or why there is none. Rejects when that cannot be told at present. */
export type ResolveNames = (names: readonly (readonly string[])[]) => Promise<(Series | Unresolved)[]>

/** Records for the journal, and the rejects of the chunk. */
export interface ReadyChunk extends ChunkRecords {
  /** Of the records, as they were resolved. */
  series: readonly Series[]
}

type BodyStep = ({ kind: 'ready' } & ReadyChunk) | Extract<BodyReport, { kind: 'end' | 'failed' }>

export interface ThreadBodyOptions {
  port: MessagePort
  /** Destroyed when its reading ends before it does. */
  body: Readable
  limits: BodyLimits
  times: () => BodyTimes
  resolve: ResolveNames
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

  /** The next chunk, or the end of the body. The chunk after it is read when this is called again. */
  async next(): Promise<BodyStep> {
    this.#send({ kind: 'next' })
    let report = await this.#reports.take()
    let known: readonly Series[] = []
    if (report.kind === 'names') {
      const resolved = await resolveAll(report.names, this.#options.resolve)
      known = resolved.known
      this.#send({ kind: 'series', series: resolved.series })
      report = await this.#reports.take()
    }
    return report.kind === 'records' ? { ...report, kind: 'ready', series: known } : (report as BodyStep)
  }

  /** Bytes of the body so far, with or without its compression, whichever are more. */
  bytes(): number {
    return Math.max(this.#bytesIn, this.#bytesRead)
  }

  /** The thread has failed: nothing comes any more. */
  fail(error: Error): void {
    this.#reports.close(error)
  }

  stop(): void {
    this.#options.body.destroy()
    this.#options.port.close()
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
    // Others may lie in the same memory.
    return done === true ? { kind: 'end' } : { kind: 'piece', bytes: new Uint8Array(value) }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { kind: 'broken', code: error instanceof BodyFault ? error.code : 'BODY_BROKEN', reason }
  }
}

const namesPerTurn = 2000

/** In slices, between which main has its turn for others. */
async function resolveAll(
  names: PackedNames,
  resolve: ResolveNames,
): Promise<{ known: Series[]; series: PackedSeries }> {
  const known: Series[] = []
  const packer = new SeriesPacker()
  for (let from = 0; from < names.count; from += namesPerTurn) {
    if (from > 0) await nextTurn()
    const resolved = await resolve(unpackNames(names, from, from + namesPerTurn))
    packer.add(resolved)
    for (const each of resolved) if ('number' in each) known.push(each)
  }
  return { known, series: packer.pack() }
}
