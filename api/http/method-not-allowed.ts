/** What a path says to methods that it does not have: 405, and those that it has. */

import type { FastifyInstance, FastifyReply } from 'fastify'
import { sendServerError } from './errors.ts'

/** Every method that the server knows and that is not among `allowed` is refused on `url`, before its body is read. */
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
