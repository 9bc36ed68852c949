/** Refuses methods that a path does not have with 405 and the allowed methods. */

import type { FastifyInstance, FastifyReply } from 'fastify'
import { sendServerError } from './errors.ts'

/** Refuses every other method on `url` before its body is read. */
export function addMethodNotAllowed(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  app.route({
    method: app.supportedMethods.filter(method => !allowed.includes(method)),
    url,
    onRequest: async (_request, reply) => refuseMethod(reply, allowed),
    handler: () => undefined,
  })
}

/** The body stays unread, so the connection cannot be used again. */
export function refuseMethod(reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  reply.header('allow', allowed.join(', ')).header('connection', 'close')
  return sendServerError(reply, 'METHOD_NOT_ALLOWED')
}
