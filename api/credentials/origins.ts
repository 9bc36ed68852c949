/** Requests that a browser sends for a page of another site: which are refused, and which pages may read the answer. */

import type { FastifyReply, FastifyRequest } from 'fastify'

export interface Origins {
  /** Whether a page of another site has sent this; never of a request that no browser sent. */
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

/** How long a browser remembers that it may ask. */
const preflightMaxAgeSeconds = '600'

/** A browser asks beforehand (OPTIONS) whether a page may send a request. */
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
