/** Whether a client still waits for its response. */

import type { FastifyReply } from 'fastify'

/** Aborts when the client has left; after the answer was sent nobody listens any more. */
export function leavingOf(reply: FastifyReply): AbortSignal {
  const leaving = new AbortController()
  reply.raw.once('close', () => leaving.abort())
  return leaving.signal
}
