/**
 * The port of a bulk body between the main thread and the thread that reads it: its messages, and the thread's end.
 * The main thread forwards the bytes as they arrive, and resolves the names. The other thread does all work on the
 * bytes.
 */

import type { MessagePort } from 'node:worker_threads'
import { bug } from '../../store/limits/bug.ts'
import type { LeftOutValues } from '../formats/chunk.ts'
import type { FieldSightings, PackedFields } from '../formats/field-sightings.ts'
import type { Reject } from '../formats/reject.ts'
import { BodyFault, type BodyFaultCode } from './body-bytes.ts'
import type { PackedNames, PackedSeries } from './packed-names.ts'

/** Limits for the times of rows. */
export interface BodyTimes {
  nowMs: number
  /** Older readings are rejected. */
  earliestMs: number | undefined
}

/** Pieces of the body, each requested by `more`. */
export type BodyPiece =
  | { kind: 'piece'; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'end' }
  | { kind: 'broken'; code: BodyFaultCode; reason: string }

export type BodyCommand =
  /** Requests the records of the next chunk. */
  | { kind: 'next' }
  /** Requests the texts of names by their indexes, since their devices have changed. */
  | { kind: 'texts'; indexes: Uint32Array<ArrayBuffer> }
  /** The series of the chunk's names, and the fields of its devices. */
  | { kind: 'series'; series: PackedSeries; fields: PackedFields | undefined }

/** A body may take hours, so each message to the thread has the current times. */
export type ToThread = (BodyPiece | BodyCommand) & { times: BodyTimes }

export interface ChunkRecords {
  /** Lines of the body, including the header and empty lines. */
  lines: number
  records: Uint8Array<ArrayBuffer>
  count: number
  /** Number of rows that replace an earlier one of the body, with the same series and time. */
  replaced: number
  /** Earliest time of the records; Infinity without any. */
  oldestMs: number
  /** Rejects have the order of lines. */
  rejects: Reject[]
  rejected: number
  leftOut: LeftOutValues
  /** Names of fields and columns that are not stored, so far. */
  ignored: string[]
}

/** `bytes`: size of the uncompressed body, so far. */
export type BodyReport =
  /** `sightings` where rows may have custom fields. */
  | { kind: 'names'; names: PackedNames; sightings: FieldSightings | undefined; bytes: number }
  | { kind: 'texts'; names: PackedNames; bytes: number }
  | ({ kind: 'records'; bytes: number } & ChunkRecords)
  /** The digest, if requested. */
  | { kind: 'end'; digest: Uint8Array | undefined; bytes: number }
  | { kind: 'failed'; code: BodyFaultCode; reason: string; bytes: number }

export type FromThread = BodyReport | { kind: 'more' }

/** The main thread has closed the port and abandons the body. */
export class Abandoned extends Error {}

export class BodyChannel {
  readonly #port: MessagePort
  readonly #pieces = new Mailbox<BodyPiece>()
  readonly #commands = new Mailbox<BodyCommand>()
  #times: BodyTimes = { nowMs: 0, earliestMs: undefined }

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', ({ times, ...message }: ToThread) => {
      this.#times = times
      if (isCommand(message)) this.#commands.put(message)
      else this.#pieces.put(message)
    })
    port.on('close', () => {
      const abandoned = new Abandoned('the body is not needed any more')
      this.#pieces.close(abandoned)
      this.#commands.close(abandoned)
    })
  }

  /** The last times from the main thread. */
  get times(): BodyTimes {
    return this.#times
  }

  /** Waits for a command of one of these kinds. */
  async command<Kind extends BodyCommand['kind']>(...kinds: Kind[]): Promise<Extract<BodyCommand, { kind: Kind }>> {
    const command = await this.#commands.take()
    if (!(kinds as string[]).includes(command.kind)) throw bug(`${command.kind} came instead of ${kinds.join(' or ')}`)
    return command as Extract<BodyCommand, { kind: Kind }>
  }

  send(message: FromThread, transfer: ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transfer)
  }

  /** The body as it arrives: a piece arrives while the previous one is read. */
  async *body(): AsyncGenerator<Uint8Array> {
    this.send({ kind: 'more' })
    for (;;) {
      const piece = await this.#pieces.take()
      if (piece.kind === 'end') return
      if (piece.kind === 'broken') throw new BodyFault(piece.code, piece.reason)
      this.send({ kind: 'more' })
      yield piece.bytes
    }
  }

  close(): void {
    this.#port.close()
  }
}

const commandKinds: ReadonlySet<string> = new Set(['next', 'texts', 'series'] satisfies BodyCommand['kind'][])

function isCommand(message: BodyPiece | BodyCommand): message is BodyCommand {
  return commandKinds.has(message.kind)
}

/** Messages in the order of arrival, for one reader that waits for them. */
export class Mailbox<Message> {
  #messages: Message[] = []
  #waiting: { resolve: (message: Message) => void; reject: (error: Error) => void } | undefined
  #closedBy: Error | undefined

  put(message: Message): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting === undefined) this.#messages.push(message)
    else waiting.resolve(message)
  }

  take(): Promise<Message> {
    const message = this.#messages.shift()
    if (message !== undefined) return Promise.resolve(message)
    if (this.#closedBy !== undefined) return Promise.reject(this.#closedBy)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  /** A waiting or later reader gets the error. */
  close(error: Error): void {
    this.#closedBy ??= error
    this.#waiting?.reject(this.#closedBy)
    this.#waiting = undefined
  }
}
