/** Redirects `/` to the visitor's start page, except from the service's own pages, where `/` links to the fleet. */

import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

export type FindStart = (request: IncomingMessage) => Promise<string | undefined>

export function sendToStart(findStart: FindStart) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    if (request.originalUrl !== '/' || isFromHere(request)) return undefined
    const start = await findStart(request.raw)
    if (start === undefined || start === '/') return undefined
    // Relative, so it is valid below any prefix that a proxy adds.
    return reply.code(302).header('location', `.${start}`).header('cache-control', 'private, no-store').send()
  }
}

/** The pages send a referrer only within the service (`referrer-policy`). Behind a proxy, `host` may differ. */
function isFromHere({ headers: { referer, host, 'sec-fetch-site': site } }: FastifyRequest): boolean {
  if (site === 'same-origin') return true
  return referer !== undefined && URL.canParse(referer) && new URL(referer).host === host
}
