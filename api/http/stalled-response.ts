/** A response that is sent in pieces, within a bound on the time in which its client takes nothing of it. */

import type { ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { createGzip, createZstdCompress } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import type { Form } from './accept-encoding.ts'

/** A piece may be large; by smaller ones a slow client is told from one that has stopped reading. */
const sliceBytes = 64 * 1024
const stalledMsUsual = 60_000

/** Made in threads of Node's own. Numbers as text lose little by the quick levels. */
const coders = {
  gzip: () => createGzip({ level: 3 }),
  zstd: () => createZstdCompress(),
}
type StreamForm = keyof typeof coders | 'identity'

/** The first form that a client likes and that can be made on the way. */
export function streamFormOf(accepted: readonly Form[]): StreamForm {
  return accepted.find(form => form !== 'br') ?? 'identity'
}

export interface PiecesOptions extends StallOptions {
  form?: StreamForm
  onFailed: (error: Error) => void
}

/**
 * For clients of HTTP/1.1 and newer: before, the end of a connection ended a response, so one that breaks off looked complete.
 * Nobody may use a piece any more that was handed over: its memory is freed.
 */
export function sendPieces(
  reply: FastifyReply,
  pieces: AsyncIterable<Uint8Array>,
  { form = 'identity', onFailed, ...options }: PiecesOptions,
): FastifyReply {
  const coder = form === 'identity' ? undefined : coders[form]()
  const sent = new SentPieces()
  const unsentBytes = () => bytes.readableLength + (coder ?? reply.raw).writableLength
  const taken = untilStalled(freeSent(pieces, sent, unsentBytes), reply.raw, options)
  const bytes: Readable = Readable.from(taken, { objectMode: false })
  reply.raw.once('finish', () => sent.free(0))
  bytes.on('error', error => {
    // The response has begun, so its connection is cut, which tells the client.
    reply.raw.destroy()
    onFailed(error)
  })
  if (coder === undefined) return reply.send(bytes)
  reply.header('content-encoding', form)
  return reply.send(pipeline(bytes, coder, () => undefined))
}

/** The same pieces. Each is asked for when the stream has taken all of the one before it. */
async function* freeSent(pieces: AsyncIterable<Uint8Array>, sent: SentPieces, unsentBytes: () => number) {
  for await (const piece of pieces) {
    yield piece
    sent.add(piece)
    sent.free(unsentBytes())
  }
}

export interface StallOptions {
  /** How long a client may take nothing of a response. */
  stalledMsMax?: number
  /** Told whenever the client is waited for, and when it has taken what it was waited for. */
  onWait?: (isWaiting: boolean) => void
}

/** The same bytes. The connection of a client that takes none of them for so long is cut. */
export async function* untilStalled(
  pieces: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  { stalledMsMax = stalledMsUsual, onWait = () => undefined }: StallOptions = {},
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; from += sliceBytes) {
      // The time is measured only while the client is waited for, not while the next piece is made.
      const timer = setTimeout(() => response.destroy(), stalledMsMax)
      onWait(true)
      try {
        yield piece.subarray(from, from + sliceBytes)
      } finally {
        clearTimeout(timer)
        onWait(false)
      }
    }
  }
}

/** A shorter one may lie in memory that it shares with others. */
const ownBytesMin = 64 * 1024

interface TakenPiece {
  readonly piece: Uint8Array
  /** Bytes of the response up to its end. */
  readonly endBytes: number
}

/**
 * Frees the pieces of a response when they have been sent. Their memory lies outside the heap: left to V8, every 30 MB of it start a
 * collection of the whole heap of the main thread, which costs more than all else that this thread does for them.
 */
class SentPieces {
  readonly #unsent: TakenPiece[] = []
  #takenBytes = 0

  /** One that a stream has taken all of. */
  add(piece: Uint8Array): void {
    this.#takenBytes += piece.length
    if (piece.length >= ownBytesMin) this.#unsent.push({ piece, endBytes: this.#takenBytes })
  }

  /** Of what was taken, all but the last `unsentBytes` have left the process. */
  free(unsentBytes: number): void {
    while (this.#unsent.length > 0) {
      const { piece, endBytes } = this.#unsent[0] as TakenPiece
      if (endBytes > this.#takenBytes - unsentBytes) return
      this.#unsent.shift()
      detachBuffers([piece])
    }
  }
}
