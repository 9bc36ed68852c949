/**
 * Bounds the memory of answers that clients are slow to read. A body that left the cache lives on while somebody reads it,
 * and `latest/all` alone has 72 of them, each anew every minute: without a bound 72 clients that read a byte a second
 * would hold gigabytes.
 */

import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

export interface SendBudgetOptions {
  /** Of all different bodies that are being sent together. */
  bytesMax: number
  nowMs: () => number
}

/** Shorter bodies fit the buffers of a socket. */
const countedBytesMin = 64 * 1024
/** Whoever has read for so long gives way to others. */
const patienceMs = 10_000
const retryAfterSeconds = '2'

export class BusyError extends Error {
  readonly statusCode = 503
}

/** The answer that has no room is a 503, which each family tells in its own shape. */
export function boundSending(app: FastifyInstance, options: SendBudgetOptions): void {
  const budget = new SendBudget(options)
  app.addHook('onSend', (_request, reply, payload: unknown, done) => {
    if (reply.raw.req.method === 'HEAD' || budget.take(payload, reply.raw)) {
      done()
      return
    }
    for (const name of ['content-encoding', 'content-type', 'etag']) reply.removeHeader(name)
    reply.header('cache-control', 'no-store').header('retry-after', retryAfterSeconds)
    done(new BusyError('too many large answers at once'))
  })
}

interface Held {
  bytes: number
  responses: Set<ServerResponse>
  /** When the last of them began. */
  sinceMs: number
}

class SendBudget {
  readonly #options: SendBudgetOptions
  /** By body, the one that was wanted longest ago first. A body that many read counts once. */
  readonly #held = new Map<unknown, Held>()
  #bytes = 0

  constructor(options: SendBudgetOptions) {
    this.#options = options
  }

  /** False when there is no room. */
  take(payload: unknown, response: ServerResponse): boolean {
    const bytes = Buffer.isBuffer(payload) || typeof payload === 'string' ? payload.length : 0
    if (bytes < countedBytesMin) return true
    const held = this.#held.get(payload) ?? this.#admit(bytes)
    if (held === undefined) return false
    held.responses.add(response)
    held.sinceMs = this.#options.nowMs()
    this.#held.delete(payload)
    this.#held.set(payload, held)
    response.once('close', () => this.#release(payload, held, response))
    return true
  }

  #admit(bytes: number): Held | undefined {
    const { bytesMax, nowMs } = this.#options
    for (const [payload, held] of this.#held) {
      if (this.#bytes + bytes <= bytesMax) break
      if (nowMs() - held.sinceMs < patienceMs) break
      for (const response of held.responses) {
        response.destroy()
        this.#release(payload, held, response)
      }
    }
    // The only one may be of any size; what is built has bounds of its own.
    if (this.#bytes > 0 && this.#bytes + bytes > bytesMax) return undefined
    this.#bytes += bytes
    return { bytes, responses: new Set(), sinceMs: 0 }
  }

  /** Once for each response, whichever way it ends. */
  #release(payload: unknown, held: Held, response: ServerResponse): void {
    if (!held.responses.delete(response) || held.responses.size > 0) return
    this.#held.delete(payload)
    this.#bytes -= held.bytes
  }
}
