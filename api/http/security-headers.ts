/** Sets the security headers of all responses: no guessed types, no frames, and no referrer for other sites. */

import type { FastifyInstance } from 'fastify'

/** With `no-referrer`, browsers would send `Origin: null` with a form, as for pages of other sites. */
export const securityHeaders = {
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

/** Only for pages: a redirect with this header would cut the opener off from the popup of a drive. */
export const pageHeaders = { 'cross-origin-opener-policy': 'same-origin' } as const

/** Call it before the routes are added. Answers that reach no hook set the headers themselves. */
export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(securityHeaders)
    done()
  })
}
