/** `/` leads whoever has a start page to it, unless they come from a page of ours: there, `/` is the link to the fleet. */

import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'

export type FindStart = (request: IncomingMessage) => Promise<string | undefined>

export function sendToStart(findStart: FindStart) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    if (request.originalUrl !== '/' || isFromHere(request)) return undefined
    const start = await findStart(request.raw)
    if (start === undefined || start === '/') return undefined
    // As seen from this page, so that it is right below any prefix that a proxy adds.
    return reply.code(302).header('location', `.${start}`).header('cache-control', 'private, no-store').send()
  }
}

/** Our pages send their address to pages of ours alone (`referrer-policy`); behind a proxy, `host` may be another one. */
function isFromHere({ headers: { referer, host, 'sec-fetch-site': site } }: FastifyRequest): boolean {
  if (site === 'same-origin') return true
  return referer !== undefined && URL.canParse(referer) && new URL(referer).host === host
}
