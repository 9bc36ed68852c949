/** The security headers of all responses: no guessed types, no frames, and no referrer for other sites. */

import type { FastifyInstance } from 'fastify'

/**
 * Not `no-referrer`: with it browsers say `Origin: null` with a form, as they do for pages of other sites.
 */
export const securityHeaders = {
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

/** Of pages alone: the window that opens the popup of a drive would lose it by a redirect that has this. */
export const pageHeaders = { 'cross-origin-opener-policy': 'same-origin' } as const

/** Before the routes are added. What reaches no hook brings the headers by itself: bytes that are no request, and paths that are none. */
export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(securityHeaders)
    done()
  })
}
