/** Serves pages: orders the checks of a request and sends the page. */

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Words } from '../../../analytics/findings/words.ts'
import { writeSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import type { SessionCodec, SignedIn } from '../../../auth/sessions/session-codec.ts'
import type { Sessions } from '../../../auth/sessions/sessions.ts'
import type { Log } from '../../../store/log.ts'
import { addRawBody, contentTypeOf } from '../../accounts/kit/body.ts'
import { errors, failureOf } from '../../accounts/kit/errors.ts'
import { clientOf } from '../../accounts/kit/register.ts'
import type { FindPrincipal } from '../../credentials/find-principal.ts'
import type { Origins } from '../../credentials/origins.ts'
import { addMethodNotAllowed, setRefusal, setRetryAfter } from '../../http/errors.ts'
import { html } from '../../http/html.ts'
import { wordsFor } from '../../http/page-words.ts'
import { pageHeaders } from '../../http/response-headers.ts'
import { parseForm } from './form.ts'
import { contentSecurityPolicy, copyingPolicy, copyScriptElement, type Layout, renderPage } from './html/layout.ts'
import type { Page, PageAnswer, PageRequest, ShownPage } from './page.ts'

export interface ServeOptions {
  findPrincipal: FindPrincipal
  sessions: Pick<Sessions, 'renewCookie'>
  codec: Pick<SessionCodec, 'cookieName' | 'isSecure'>
  origins: Origins
  publicUrl: () => string
  log: Log
}

export function servePages(scope: FastifyInstance, pages: readonly Page[], options: ServeOptions): void {
  addRawBody(scope)
  scope.addHook('onRequest', setHeaders)
  scope.setErrorHandler((error: FastifyError, request, reply) => {
    const words = wordsFor(request.raw)
    const { code, isUnread, retryAfterSeconds } = failureOf(error)
    if (code === 'INTERNAL') options.log.error({ err: error }, 'a page failed')
    if (isUnread) reply.header('connection', 'close')
    const text =
      code === 'UNAVAILABLE' ? words.t('The service is busy. Please try again in a moment.') : errors[code].text
    setRefusal(setRetryAfter(reply, retryAfterSeconds), errors[code])
    return send(reply, errorPage(errors[code].status, text, words), { words })
  })
  for (const page of pages) addPage(scope, page, options)
}

function addPage(scope: FastifyInstance, page: Page, options: ServeOptions): void {
  const { path, submit } = page
  const shared = { onRequest: withoutSlash }
  scope.get(path, shared, async (request, reply) => {
    const visitor = await visitorOf(request, options)
    const asked = requestOf(request, visitor)
    const answer = await renewed(await page.show(asked), visitor, options)
    return send(reply, answer, { path, account: visitor?.account ?? null, words: asked.words })
  })
  if (submit !== undefined) {
    scope.post(path, shared, async (request, reply) => {
      const words = wordsFor(request.raw)
      if (options.origins.isCrossSite(request)) return send(reply, crossSitePage(request, options, words), { words })
      const form = parseForm(request.body as Buffer | undefined, contentTypeOf(request))
      if (form === undefined)
        return send(reply, errorPage(400, words.t('The request does not come from the form of this page.'), words), {
          words,
        })
      const visitor = await visitorOf(request, options)
      const asked = requestOf(request, visitor)
      const answer = await submit(asked, form)
      return send(reply, answer, { path, account: visitor?.account ?? null, words: asked.words })
    })
  }
  addMethodNotAllowed(scope, path, ['GET', 'HEAD', ...(submit === undefined ? [] : ['POST'])])
}

async function visitorOf({ raw }: FastifyRequest, { findPrincipal }: ServeOptions): Promise<SignedIn | undefined> {
  const principal = await findPrincipal(raw)
  return principal?.kind === 'session' ? principal : undefined
}

function requestOf(request: FastifyRequest, visitor: SignedIn | undefined): PageRequest {
  const query = request.query as Record<string, unknown>
  return {
    argument: name => (typeof query[name] === 'string' ? query[name] : undefined),
    visitor,
    client: clientOf(request),
    words: wordsFor(request.raw, visitor?.account.preferences.language),
  }
}

/** Renews a session in use, so that 30 days do not end it during work. */
async function renewed(answer: PageAnswer, visitor: SignedIn | undefined, options: ServeOptions): Promise<PageAnswer> {
  const { sessions, codec } = options
  const cookie = visitor && (await sessions.renewCookie(visitor))
  if (cookie === undefined || answer.cookies !== undefined) return answer
  const { isSecure } = codec
  return { ...answer, cookies: writeSessionCookie(codec.cookieName, cookie.token, { isSecure, ...cookie }) }
}

function errorPage(status: number, text: string, { t }: Words): ShownPage {
  const main = html`<p class="lead">${text}</p>
<p class="more"><a href="account">${t('To your account')}</a></p>
`
  return { kind: 'page', status, title: status < 500 ? t('That did not work') : t('Something went wrong'), main }
}

/** The address that the client uses may differ from the configured one. */
function crossSitePage({ headers }: FastifyRequest, { publicUrl }: ServeOptions, words: Words): PageAnswer {
  const { origin = 'unknown' } = headers
  const text = words.t(
    'The form came from a page of another address ({origin}) than this service ({url}). Start it with the setting PUBLIC_URL, the address by which browsers reach it.',
    { origin, url: publicUrl() },
  )
  return errorPage(403, text, words)
}

function setHeaders(_request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  reply.headers({
    'cache-control': 'no-store',
    'content-security-policy': contentSecurityPolicy,
    vary: 'accept-language',
    ...pageHeaders,
  })
  done()
}

/** Links are relative, so a page has only one address. */
async function withoutSlash({ originalUrl }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const [path = '', ...query] = originalUrl.split('?')
  if (path === '/' || !path.endsWith('/')) return undefined
  const name = path.slice(path.lastIndexOf('/', path.length - 2) + 1, -1)
  const location = `../${[name, ...query].join('?')}`
  return await reply.code(308).header('location', location).header('connection', 'close').send()
}

/** Page and signed-in account, if known. */
type Frame = Partial<Pick<Layout, 'path' | 'account'>> & Pick<Layout, 'words'>

function send(reply: FastifyReply, answer: PageAnswer, { path, account, words }: Frame): FastifyReply {
  if (answer.cookies !== undefined) reply.header('set-cookie', [...answer.cookies])
  if (answer.kind === 'redirect') return reply.code(303).header('location', answer.to).send()
  const { status, title, main, copies = false, retryAfterSeconds } = answer
  const text = renderPage({ path, title, main, account, words, script: copies ? copyScriptElement : undefined })
  if (copies) reply.header('content-security-policy', copyingPolicy)
  setRetryAfter(reply, retryAfterSeconds)
  return reply.code(status).header('content-type', 'text/html; charset=utf-8').send(Buffer.from(text))
}
