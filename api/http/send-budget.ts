/**
 * Bounds the memory of answers to slow clients. A body that left the cache stays in memory while it is read, and
 * `latest/all` has 72 bodies, which change every minute: 72 clients at a byte a second would hold gigabytes.
 */

import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { Capacity } from '../../store/limits/capacity.ts'
import { setRetryAfter } from './errors.ts'

export interface SendBudgetOptions {
  /** All different bodies in progress together. */
  bytesMax: number
  nowMs: () => number
}

/** Shorter bodies fit the buffers of a socket. */
const countedBytesMin = 64 * 1024
/** Older responses may be evicted in favour of new ones. */
const patienceMs = 10_000
const retryAfterSeconds = 2

export class BusyError extends Error {
  readonly statusCode = 503
}

/** An answer without room is a 503, which each family writes in its own shape. */
export function boundSending(app: FastifyInstance, options: SendBudgetOptions): void {
  const budget = new SendBudget(options)
  app.addHook('onSend', (_request, reply, payload: unknown, done) => {
    if (reply.raw.req.method === 'HEAD' || budget.take(payload, reply.raw)) {
      done()
      return
    }
    for (const name of ['content-encoding', 'content-type', 'etag']) reply.removeHeader(name)
    setRetryAfter(reply.header('cache-control', 'no-store'), retryAfterSeconds)
    done(new BusyError('too many large answers at once'))
  })
}

/** A body with many readers counts once. */
interface Held {
  payload: unknown
  responses: Set<ServerResponse>
}

class SendBudget {
  readonly #held = new Map<unknown, Held>()
  readonly #bytes: Capacity<Held>

  constructor({ bytesMax, nowMs }: SendBudgetOptions) {
    const eviction = { waitMsMax: patienceMs, nowMs, evict: (held: Held) => this.#cutOff(held) }
    this.#bytes = new Capacity({ max: bytesMax, eviction })
  }

  /** False without room. */
  take(payload: unknown, response: ServerResponse): boolean {
    const bytes = Buffer.isBuffer(payload) || typeof payload === 'string' ? payload.length : 0
    if (bytes < countedBytesMin) return true
    const held = this.#held.get(payload) ?? this.#admit(payload, bytes)
    if (held === undefined) return false
    held.responses.add(response)
    this.#bytes.wait(held, true)
    response.once('close', () => {
      held.responses.delete(response)
      if (held.responses.size === 0 && this.#bytes.release(held)) this.#held.delete(payload)
    })
    return true
  }

  #admit(payload: unknown, bytes: number): Held | undefined {
    const held: Held = { payload, responses: new Set() }
    if (!this.#bytes.take(held, [], bytes)) return undefined
    this.#held.set(payload, held)
    return held
  }

  #cutOff({ payload, responses }: Held): void {
    this.#held.delete(payload)
    for (const response of responses) response.destroy()
  }
}
