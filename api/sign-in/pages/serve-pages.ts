/** Serves pages: orders the checks of a request and sends the page. */

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
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
  scope.setErrorHandler((error: FastifyError, _request, reply) => {
    const { code, isUnread, retryAfterSeconds } = failureOf(error)
    if (code === 'INTERNAL') options.log.error({ err: error }, 'a page failed')
    if (isUnread) reply.header('connection', 'close')
    const text = code === 'UNAVAILABLE' ? 'The service is busy. Please try again in a moment.' : errors[code].text
    setRefusal(setRetryAfter(reply, retryAfterSeconds), errors[code])
    return send(reply, errorPage(errors[code].status, text), {})
  })
  for (const page of pages) addPage(scope, page, options)
}

function addPage(scope: FastifyInstance, page: Page, options: ServeOptions): void {
  const { path, submit } = page
  const shared = { onRequest: withoutSlash }
  scope.get(path, shared, async (request, reply) => {
    const visitor = await visitorOf(request, options)
    const answer = await renewed(await page.show(requestOf(request, visitor)), visitor, options)
    return send(reply, answer, { path, account: visitor?.account ?? null })
  })
  if (submit !== undefined) {
    scope.post(path, shared, async (request, reply) => {
      if (options.origins.isCrossSite(request)) return send(reply, crossSitePage(request, options), {})
      const form = parseForm(request.body as Buffer | undefined, contentTypeOf(request))
      if (form === undefined)
        return send(reply, errorPage(400, 'The request does not come from the form of this page.'), {})
      const visitor = await visitorOf(request, options)
      const answer = await submit(requestOf(request, visitor), form)
      return send(reply, answer, { path, account: visitor?.account ?? null })
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

function errorPage(status: number, text: string): ShownPage {
  const main = html`<p class="lead">${text}</p>
<p class="more"><a href="account">To your account</a></p>
`
  return { kind: 'page', status, title: status < 500 ? 'That did not work' : 'Something went wrong', main }
}

/** The address that the client uses may differ from the configured one. */
function crossSitePage({ headers }: FastifyRequest, { publicUrl }: ServeOptions): PageAnswer {
  const { origin = 'unknown' } = headers
  const text = `The form came from a page of another address (${origin}) than this service (${publicUrl()}).`
  return errorPage(403, `${text} Start it with the setting PUBLIC_URL, the address by which browsers reach it.`)
}

function setHeaders(_request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  reply.headers({
    'cache-control': 'no-store',
    'content-security-policy': contentSecurityPolicy,
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
type Frame = Partial<Pick<Layout, 'path' | 'account'>>

function send(reply: FastifyReply, answer: PageAnswer, { path, account }: Frame): FastifyReply {
  if (answer.cookies !== undefined) reply.header('set-cookie', [...answer.cookies])
  if (answer.kind === 'redirect') return reply.code(303).header('location', answer.to).send()
  const { status, title, main, copies = false, retryAfterSeconds } = answer
  const text = renderPage({ path, title, main, account, script: copies ? copyScriptElement : undefined })
  if (copies) reply.header('content-security-policy', copyingPolicy)
  setRetryAfter(reply, retryAfterSeconds)
  return reply.code(status).header('content-type', 'text/html; charset=utf-8').send(Buffer.from(text))
}
