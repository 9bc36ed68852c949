/** Lets pages of any origin read (CORS): these answers are public, or need a credential that a page has to know. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from './scope.ts'

/** Time for which browsers cache the preflight answer. */
const preflightMaxAgeSeconds = '86400'
/** Headers that a page may read besides type and length. Only points of stations have the last two. */
const exposedHeaders = 'etag, retry-after, replica-behind-seconds, points-left-out, point-units'

export function addCorsHeaders(app: Scope): void {
  app.addHook('onRequest', (_request, reply, done) => {
    letAnyOriginRead(reply)
    done()
  })
}

/** Browsers send such requests without cookies. */
export function letAnyOriginRead(reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*')
  reply.header('access-control-expose-headers', exposedHeaders)
}

/** A browser sends a preflight (OPTIONS) before a page's request with custom headers. */
export function answerPreflight(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('allow', 'GET, HEAD, OPTIONS')
  reply.header('access-control-allow-methods', 'GET, HEAD')
  reply.header('access-control-allow-headers', '*')
  reply.header('access-control-max-age', preflightMaxAgeSeconds)
  return reply.code(204).send()
}
