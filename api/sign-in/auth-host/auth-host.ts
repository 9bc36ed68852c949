/** Serves the routes of Auth.js for sign-in by providers. */

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import type { SessionCodec } from '../../../auth/sessions/session-codec.ts'
import { addRawBody, contentTypeOf, parseBody } from '../../accounts/kit/body.ts'
import { failureOf, sendError } from '../../accounts/kit/errors.ts'
import { clientOf } from '../../accounts/kit/register.ts'
import type { Origins } from '../../credentials/origins.ts'
import { addMethodNotAllowed } from '../../http/errors.ts'
import type { RouteFamily } from '../../http/route-family.ts'
import { parseForm } from '../pages/form.ts'
import { createAuthConfig, type HostParts } from './auth-config.ts'
import { hostErrors } from './auth-js.ts'

interface AuthHostOptions extends HostParts {
  origins: Origins
  publicUrl: () => string
}

/** Actions of the library with a single password provider. */
const actions: Readonly<Record<string, readonly ('GET' | 'POST')[]>> = {
  '/csrf': ['GET'],
  '/providers': ['GET'],
  '/session': ['GET', 'POST'],
  '/signin': ['GET', 'POST'],
  '/signin/credentials': ['POST'],
  '/callback/credentials': ['POST'],
  '/signout': ['GET', 'POST'],
  '/error': ['GET'],
}

export function authHostFamily(options: AuthHostOptions): RouteFamily {
  return { prefix: '/auth', published: [], register: scope => registerHost(scope, options) }
}

function registerHost(scope: FastifyInstance, options: AuthHostOptions): void {
  addRawBody(scope)
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store')
    done()
  })
  scope.setErrorHandler((error: FastifyError, _request, reply) => {
    const { code, isUnread, retryAfterSeconds } = failureOf(error)
    if (code === 'INTERNAL') options.log.error({ err: error }, 'a request of the Auth.js host failed')
    if (isUnread) reply.header('connection', 'close')
    return sendError(reply, code, retryAfterSeconds)
  })
  for (const [path, methods] of Object.entries(actions)) {
    scope.route({
      method: [...methods],
      url: path,
      exposeHeadRoute: false,
      handler: (request, reply) => answer(options, path, request, reply),
    })
    addMethodNotAllowed(scope, path, methods)
  }
}

async function answer(
  options: AuthHostOptions,
  path: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { authJs, codec, origins, publicUrl } = options
  if (request.method === 'POST' && origins.isCrossSite(request)) return sendError(reply, 'CROSS_SITE')
  const base = URL.parse(publicUrl())?.href.replace(/\/$/, '') ?? ''
  // The library would redirect there without an error, too, and with any text as an error.
  if (path === '/error') return await reply.redirect(signInErrorPath(base, request.query))
  const { config, throwFault } = createAuthConfig(options, base, clientOf(request))
  const response = await authJs.Auth(webRequestOf(request, `${base}/auth${path}`, codec), config)
  // The library turns every error into a page. An unavailable database has to be a 503.
  throwFault()
  return await sendResponse(reply, response, base)
}

/** Page that reports the library's errors. An unknown error is the default one. */
function signInErrorPath(base: string, query: unknown): string {
  const { pathname } = new URL(base)
  const { error } = query as Record<string, unknown>
  const known = hostErrors.find(name => name === error) ?? 'Default'
  return `${pathname === '/' ? '' : pathname}/sign-in?error=${known}`
}

type Cookies = Pick<SessionCodec, 'cookieName' | 'isSecure'>

/** `address` is the action's address, without arguments. */
function webRequestOf(request: FastifyRequest, address: string, cookies: Cookies): Request {
  const { method, query } = request
  const url = new URL(address)
  for (const [name, value] of Object.entries(textsOf(query, url.origin))) url.searchParams.set(name, value)
  const headers = new Headers({ cookie: cookiesOf(request, cookies) })
  if (request.headers['x-auth-return-redirect'] !== undefined) headers.set('x-auth-return-redirect', '1')
  if (method !== 'POST') return new Request(url, { headers })
  const fields = textsOf(fieldsOf(request), url.origin)
  return new Request(url, { method, headers, body: new URLSearchParams(fields) })
}

/** Fields of a form or a JSON object; undefined for other bodies. */
function fieldsOf(request: FastifyRequest): unknown {
  const bytes = request.body as Buffer | undefined
  const contentType = contentTypeOf(request)
  const parsed = parseBody(bytes, contentType)
  return parsed.kind === 'object' ? parsed.value : parseForm(bytes, contentType)
}

/** The library expects texts and a valid return address. */
function textsOf(values: unknown, origin: string): Record<string, string> {
  const texts = Object.entries(values ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(texts.filter(([name, text]) => name !== 'callbackUrl' || isOurs(text, origin)))
}

function isOurs(text: string, origin: string): boolean {
  return URL.parse(text, origin)?.origin === origin && (text.startsWith('/') || URL.canParse(text))
}

/** The library joins all cookies whose names begin like the session's, so it gets only the session's pieces. */
function cookiesOf({ headers }: FastifyRequest, { cookieName, isSecure }: Cookies): string {
  const csrfName = `${isSecure ? '__Host-' : ''}authjs.csrf-token`
  const isSessionGood = readSessionCookie(headers.cookie, cookieName).kind === 'token'
  const piece = `${cookieName}.`
  const isWanted = (name: string) =>
    name === csrfName ||
    (isSessionGood && (name === cookieName || (name.startsWith(piece) && /^\d$/.test(name.slice(piece.length)))))
  const cookies = (headers.cookie ?? '').split(';').map(cookie => cookie.trim())
  return cookies.filter(cookie => isWanted(cookie.slice(0, Math.max(cookie.indexOf('='), 0)))).join('; ')
}

/** A redirect to this service has only a path: a browser may use another address than PUBLIC_URL. */
async function sendResponse(reply: FastifyReply, response: Response, base: string): Promise<FastifyReply> {
  const { status, headers } = response
  const location = headers.get('location')
  const { origin } = new URL(base)
  if (location !== null) reply.header('location', location === origin ? '/' : withoutOrigin(location, origin))
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) reply.header('set-cookie', cookies)
  reply.header('content-type', headers.get('content-type') ?? 'text/plain; charset=utf-8')
  return reply.code(status).send(Buffer.from(await response.arrayBuffer()))
}

function withoutOrigin(location: string, origin: string): string {
  const path = location.startsWith(`${origin}/`) ? location.slice(origin.length) : location
  // Two leading slashes would lead to another host.
  return path.startsWith('//') ? location : path
}
