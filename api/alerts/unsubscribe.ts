/** Serves the page by which a mail recipient leaves a channel. Its form or a mail program (RFC 8058) submits it. */

import type { FastifyReply } from 'fastify'
import { type Unsubscribing, unsubscribePath } from '../../alerts/delivery/unsubscribe.ts'
import type { Words } from '../../analytics/findings/words.ts'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { addMethodNotAllowed } from '../http/errors.ts'
import { type Html, html } from '../http/html.ts'
import { createPageStyle, renderDocument, rootFrom } from '../http/page-document.ts'
import { wordsFor } from '../http/page-words.ts'
import { pageHeaders } from '../http/response-headers.ts'
import type { RouteFamily } from '../http/route-family.ts'

const { element: style, contentSecurityPolicy } = createPageStyle(`
main { padding: 32px var(--narrow-side) 64px; }
main p { margin: 12px 0; }
`)

const bodyBytesMax = 1024
/** 43 characters have 256 bits. */
const tokenPattern = /^[\w-]{43}$/

export function unsubscribeFamily(options: { unsubscribing: Unsubscribing; log: Log }): RouteFamily {
  const { unsubscribing, log } = options
  return {
    prefix: '',
    published: [],
    register(scope) {
      // The body adds nothing to the address: it has one field, of the form or of a mail program.
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: bodyBytesMax }, (_request, _body, done) =>
        done(null, undefined),
      )
      scope.addHook('onRequest', (_request, reply, done) => {
        reply.headers({ ...pageHeaders, 'cache-control': 'no-store', 'content-security-policy': contentSecurityPolicy })
        done()
      })
      scope.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
        const isAway = isUnavailable(error)
        const status = isAway ? 503 : (error.statusCode ?? 500)
        if (!isAway && status >= 500) log.error({ err: error }, 'the page that ends mails failed')
        const words = wordsFor(request.raw)
        const { t } = words
        return send(reply, status, words, {
          title: t('That did not work'),
          main: html`<p>${t('Please try again in a moment.')}</p>`,
        })
      })
      scope.get(unsubscribePath, async (request, reply) => {
        const words = wordsFor(request.raw)
        const token = tokenOf(request.query)
        const address = token === undefined ? undefined : await unsubscribing.addressOf(token)
        if (token === undefined || address === undefined) return sendUnknown(reply, words)
        return send(reply, 200, words, {
          title: words.t('No more mails of alerts?'),
          main: question(address, token, words),
        })
      })
      scope.post(unsubscribePath, async (request, reply) => {
        const words = wordsFor(request.raw)
        const { t } = words
        const token = tokenOf(request.query)
        if (token === undefined || !(await unsubscribing.unsubscribe(token))) return sendUnknown(reply, words)
        const main = html`<p>${t('This channel sends no more mails. Its owner can enable it again.')}</p>`
        return send(reply, 200, words, { title: t('Done'), main })
      })
      addMethodNotAllowed(scope, unsubscribePath, ['GET', 'HEAD', 'POST'])
    },
  }
}

function question(address: string, token: string, { t }: Words): Html {
  return html`<p>${t('Notifications of alerts to {address} end.', { address })}</p>
<form method="post" action="unsubscribe?token=${token}"><p><button class="button strong" type="submit">${t('No more mails')}</button></p></form>`
}

function tokenOf(query: unknown): string | undefined {
  const { token } = query as { token?: unknown }
  return typeof token === 'string' && tokenPattern.test(token) ? token : undefined
}

function sendUnknown(reply: FastifyReply, words: Words): FastifyReply {
  const { t } = words
  const main = html`<p>${t('It is wrong, or the channel no longer exists.')}</p>`
  return send(reply, 404, words, { title: t('This link is not valid'), main })
}

function send(
  reply: FastifyReply,
  status: number,
  words: Words,
  { title, main }: { title: string; main: Html },
): FastifyReply {
  const body = html`<main id="main">
<h1>${title}</h1>
${main}
</main>`
  return reply
    .code(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('vary', 'accept-language')
    .send(renderDocument({ title, style, body, root: rootFrom(unsubscribePath), words }))
}
