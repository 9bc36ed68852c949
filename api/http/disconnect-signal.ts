/** Whether a client still waits for its response. */

import type { FastifyReply } from 'fastify'

/** Aborts when the client has left; after the answer was sent nobody listens any more. */
export function disconnectSignalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => controller.abort())
  return controller.signal
}
