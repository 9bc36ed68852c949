/** Signals that a client has left before its response. */

import type { FastifyReply } from 'fastify'

/** Aborts when the response closes, also after a complete answer. */
export function disconnectSignalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}
