/** Sets headers of responses: security, CORS, and the name of a file. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from './route-family.ts'

/** With `no-referrer`, browsers would send `Origin: null` with a form, as for pages of other sites. */
export const securityHeaders = {
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

/** Only pages have this header: a redirect with it would cut the opener off from the popup of a drive. */
export const pageHeaders = { 'cross-origin-opener-policy': 'same-origin' } as const

/** Call it before the routes are added. Answers that reach no hook set the headers themselves. */
export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(securityHeaders)
    done()
  })
}

/** Time for which browsers cache the preflight answer. */
const preflightMaxAgeSeconds = '86400'
/** Headers that a page may read besides type and length. Only points of stations have the last two. */
const exposedHeaders = 'etag, retry-after, replica-behind-seconds, points-left-out, point-units'

/** Lets pages of any origin read: these answers are public, or need a credential that a page has to know. */
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

interface NamedRange {
  /** A device, a station, or a name for several. */
  readonly subject: string
  readonly fromUs: number
  /** Exclusive. */
  readonly toUs: number
  readonly extension: string
}

const subjectCharactersMax = 64

/**
 * The value of `content-disposition`: `porch_2026-05-01_2026-05-08T0630Z.csv`. All characters are safe in a header and
 * on any disk.
 */
export function attachmentOf({ subject, fromUs, toUs, extension }: NamedRange): string {
  const safe = subject.slice(0, subjectCharactersMax).replace(/[^A-Za-z0-9.-]/g, '-')
  // Files that begin with a dot are hidden.
  const name = safe.startsWith('.') ? `-${safe.slice(1)}` : safe
  return `attachment; filename="${name}_${momentText(fromUs)}_${momentText(toUs)}.${extension}"`
}

/** Writes UTC. Midnight is the day alone. */
function momentText(timeUs: number): string {
  const text = new Date(Math.floor(timeUs / 1000)).toISOString()
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : `${text.slice(0, 16).replace(':', '')}Z`
}
