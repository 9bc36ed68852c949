/** Sends responses in pieces, and bounds their number and the time in which a client reads nothing. */

import type { ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { createGzip, createZstdCompress } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { Capacity } from '../../store/limits/capacity.ts'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { networkOf } from '../../store/limits/networks.ts'
import { oneProcess, type ProcessCount, sharedCount } from '../../store/limits/token-buckets.ts'
import type { Form } from './send-body.ts'

/** Small slices distinguish a slow client from one that has stopped reading. */
const sliceBytes = 64 * 1024
const stalledMsUsual = 60_000

/** Node's thread pool compresses. The quick levels lose little on numbers as text. */
const coders = {
  gzip: () => createGzip({ level: 3 }),
  zstd: () => createZstdCompress(),
}
type StreamForm = keyof typeof coders | 'identity'

/** The client's first preference that can be streamed. */
export function streamFormOf(accepted: readonly Form[]): StreamForm {
  return accepted.find(form => form !== 'br') ?? 'identity'
}

export interface PiecesOptions extends StallOptions {
  form?: StreamForm
  onFailed: (error: Error) => void
}

/**
 * Clients need HTTP/1.1 or newer. Earlier versions mark the end of a response by the end of the connection, so an
 * interrupted one looks complete. Passed pieces must not be used again: their memory is freed.
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
    // The response has begun, so its connection is cut to report the error.
    reply.raw.destroy()
    onFailed(error)
  })
  if (coder === undefined) return reply.send(bytes)
  reply.header('content-encoding', form)
  return reply.send(pipeline(bytes, coder, () => undefined))
}

/** Passes pieces on. The next one is requested when the stream has taken the previous one. */
async function* freeSent(pieces: AsyncIterable<Uint8Array>, sent: SentPieces, unsentBytes: () => number) {
  for await (const piece of pieces) {
    yield piece
    sent.add(piece)
    sent.free(unsentBytes())
  }
}

export interface StallOptions {
  /** A client may stall a response for this long. */
  stalledMsMax?: number
  /** Called when the response starts and stops waiting for the client. */
  onWait?: (isWaiting: boolean) => void
}

/** Passes bytes on and cuts the connection of a client that takes none for this long. */
export async function* untilStalled(
  pieces: AsyncIterable<Uint8Array>,
  response: ServerResponse,
  { stalledMsMax = stalledMsUsual, onWait = () => undefined }: StallOptions = {},
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; from += sliceBytes) {
      // The time counts only while the client is awaited, not while the next piece is computed.
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

/** A shorter piece may share its memory with others. */
const ownBytesMin = 64 * 1024

interface TakenPiece {
  readonly piece: Uint8Array
  /** Bytes of the response up to its end. */
  readonly endBytes: number
}

/**
 * Frees sent pieces of a response. Their memory is outside the heap: left to V8, every 30 MB start a collection of the
 * main thread's whole heap, which is the largest cost of a stream.
 */
class SentPieces {
  readonly #unsent: TakenPiece[] = []
  #takenBytes = 0

  /** Adds a piece that a stream has taken completely. */
  add(piece: Uint8Array): void {
    this.#takenBytes += piece.length
    if (piece.length >= ownBytesMin) this.#unsent.push({ piece, endBytes: this.#takenBytes })
  }

  /** Frees the taken bytes except the last `unsentBytes`, which have not left the process. */
  free(unsentBytes: number): void {
    while (this.#unsent.length > 0) {
      const { piece, endBytes } = this.#unsent[0] as TakenPiece
      if (endBytes > this.#takenBytes - unsentBytes) return
      this.#unsent.shift()
      detachBuffers([piece])
    }
  }
}

export interface StreamSlotsOptions {
  slotsMax: number
  /** Limit for a network, and for a credential. */
  slotsOfOneMax: number
  /** Processes share the limits of a client. */
  processes?: ProcessCount | undefined
  nowMs: () => number
}

/** The client of a response. */
interface StreamClient {
  address: string
  /** Undefined if no credential is required. */
  credential: string | undefined
}

interface StreamSlot {
  /** Notes whether the response is waiting for the client. */
  wait(isWaiting: boolean): void
}

/** Limit that is reached. */
export type SlotRefusal = 'of all' | 'of the network' | 'of the credential'

export interface StreamSlots {
  /** A slot is held until the response is closed. */
  take(response: ServerResponse, client: StreamClient): StreamSlot | SlotRefusal
}

/** A client that has stalled for this long may be evicted. */
const patienceMs = 10_000

/**
 * Bounds concurrent streamed responses: in total, for a network and for a credential. When all slots are taken, a
 * client that has stalled is evicted for a new one, so that slow clients do not block others.
 */
export function createStreamSlots(options: StreamSlotsOptions): StreamSlots {
  const { slotsMax, slotsOfOneMax, processes = oneProcess, nowMs } = options
  const eviction = { waitMsMax: patienceMs, nowMs, evict: (response: ServerResponse) => void response.destroy() }
  const slots = new Capacity<ServerResponse>({ max: slotsMax, eviction })
  const isFull = (sharer: string | undefined) =>
    sharer !== undefined && slots.amountOf(sharer) >= sharedCount(slotsOfOneMax, processes)

  return {
    take(response, { address, credential }) {
      const network = `network ${networkOf(address)}`
      const sharers = credential === undefined ? [network] : [network, `credential ${credential}`]
      if (isFull(network)) return 'of the network'
      if (isFull(sharers[1])) return 'of the credential'
      if (!slots.take(response, sharers)) return 'of all'
      response.once('close', () => slots.release(response))
      return { wait: isWaiting => slots.wait(response, isWaiting) }
    },
  }
}

/** Aborts when the response closes, also after a complete answer. */
export function disconnectSignalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}
