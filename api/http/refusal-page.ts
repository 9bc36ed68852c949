/** What the server says of an address at which it has nothing: a page for browsers, JSON for all others. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ServerErrorCode, sendServerError, serverErrors } from './errors.ts'
import { html } from './html.ts'
import { renderDocument, type Visitor } from './page-document.ts'
import { createPageStyle } from './page-style.ts'
import { prefersHtml } from './prefers-html.ts'
import { rootFrom } from './root-from.ts'
import { pageHeaders } from './security-headers.ts'

const { element: style, contentSecurityPolicy } = createPageStyle(`
main { padding: 32px var(--narrow-side) 64px; }
`)

type RefusalCode = Extract<ServerErrorCode, 'BAD_REQUEST' | 'NOT_FOUND' | 'URI_TOO_LONG'>

const words: Record<RefusalCode, { title: string; sentence: string }> = {
  BAD_REQUEST: { title: 'Not an address', sentence: 'This address cannot be read.' },
  NOT_FOUND: { title: 'Not found', sentence: 'There is no page at this address.' },
  URI_TOO_LONG: { title: 'Too long', sentence: 'This address is too long.' },
}

export function isAnsweredByPage({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && prefersHtml(headers.accept)
}

/** `visitor`: who is signed in, where that is known. */
export function refuseAddress(
  request: FastifyRequest,
  reply: FastifyReply,
  code: RefusalCode,
  visitor?: Visitor | null,
): FastifyReply {
  reply.header('vary', 'accept')
  if (!isAnsweredByPage(request)) return sendServerError(reply, code)
  const { title, sentence } = words[code]
  const root = rootFrom(request.originalUrl)
  const body = html`<main id="main">
<h1>${title}</h1>
<p>${sentence} <a href="${root}">To the fleet</a></p>
</main>`
  return reply
    .code(serverErrors[code].status)
    .headers({ ...pageHeaders, 'content-security-policy': contentSecurityPolicy })
    .header('content-type', 'text/html; charset=utf-8')
    .send(renderDocument({ title, style, body, root, visitor }))
}
