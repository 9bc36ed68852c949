/** Converts requests and responses between the server and Auth.js, and passes only the parts that it needs. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { readSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import type { SessionCodec } from '../../../auth/sessions/session-codec.ts'
import { parseBody } from '../../accounts/kit/json-body.ts'
import { contentTypeOf } from '../../accounts/kit/raw-body.ts'
import { parseForm } from '../pages/form-body.ts'

type Cookies = Pick<SessionCodec, 'cookieName' | 'isSecure'>

/** `address` is the action's address, without arguments. */
export function webRequestOf(request: FastifyRequest, address: string, cookies: Cookies): Request {
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
export async function sendResponse(reply: FastifyReply, response: Response, base: string): Promise<FastifyReply> {
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
