/** Decides which requests of other sites' pages are refused, and which pages may read the answer. */

import type { FastifyReply, FastifyRequest } from 'fastify'

export interface Origins {
  /** True if a page of another site sent the request. False for clients other than browsers. */
  isCrossSite(request: FastifyRequest): boolean
  /** Lets pages of listed origins read the answer (CORS). */
  mark(request: FastifyRequest, reply: FastifyReply): void
  isListed(origin: string | undefined): boolean
}

export function createOrigins(listed: () => readonly string[]): Origins {
  const isListed = (origin: string | undefined) => origin !== undefined && listed().includes(origin)
  return {
    isListed,
    isCrossSite({ headers }) {
      const { origin, 'sec-fetch-site': site } = headers
      if (isListed(origin)) return false
      if (site !== undefined) return site === 'cross-site' || site === 'same-site'
      return origin !== undefined
    },
    mark({ headers: { origin } }, reply) {
      reply.header('vary', 'Origin')
      if (origin === undefined || !isListed(origin)) return
      reply.header('access-control-allow-origin', origin)
      reply.header('access-control-allow-credentials', 'true')
      reply.header('access-control-expose-headers', 'Retry-After')
    },
  }
}

/** Time for which browsers cache the preflight answer. */
const preflightMaxAgeSeconds = '600'

/** A browser sends a preflight (OPTIONS) before a page's request. */
export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

export function allowPreflight(reply: FastifyReply, methods: readonly string[]): FastifyReply {
  return reply
    .code(204)
    .header('access-control-allow-methods', methods.join(', '))
    .header('access-control-allow-headers', 'Authorization, Content-Type, X-API-Key')
    .header('access-control-max-age', preflightMaxAgeSeconds)
    .send()
}
