/** What a path says to methods that it does not have: 405, and those that it has. */

import type { FastifyInstance } from 'fastify'

/** Every method that the server knows and that is not among `allowed` is refused on `url`, before its body is read. */
export function refuseOtherMethods(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  app.route({
    method: app.supportedMethods.filter(method => !allowed.includes(method)),
    url,
    onRequest: (_request, reply) => {
      // The body stays unread, so the connection cannot be used again.
      reply.code(405).header('allow', allowed.join(', ')).header('connection', 'close')
      reply.send({ status: 'method not allowed' })
    },
    handler: () => undefined,
  })
}
