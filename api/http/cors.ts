/** Lets pages of any origin read (CORS): what is read here is for everybody, or asks for a credential that a page has to know. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from './scope.ts'

/** How long a browser remembers that it may ask. */
const preflightMaxAgeSeconds = '86400'
/** Of an answer, what a page may see besides its type and length. The last two are of the points of stations. */
const exposedHeaders = 'etag, retry-after, replica-behind-seconds, points-left-out, point-units'

/** Marks every answer of this scope. */
export function addCorsHeaders(app: Scope): void {
  app.addHook('onRequest', (_request, reply, done) => {
    letAnyOriginRead(reply)
    done()
  })
}

/** Browsers send no cookies along with requests that are answered so. */
export function letAnyOriginRead(reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*')
  reply.header('access-control-expose-headers', exposedHeaders)
}

/** A browser asks beforehand (OPTIONS) when a page sends headers of its own. */
export function answerPreflight(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('allow', 'GET, HEAD, OPTIONS')
  reply.header('access-control-allow-methods', 'GET, HEAD')
  reply.header('access-control-allow-headers', '*')
  reply.header('access-control-max-age', preflightMaxAgeSeconds)
  return reply.code(204).send()
}
