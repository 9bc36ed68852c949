/**
 * The Auth.js host, `/auth`: a front end on this address signs people in with the client of Auth.js. Its cookies are
 * those of our sessions: each sign-in is a row of `sessions`, and a session that is revoked ends at its next read.
 */

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendError } from '../../accounts/kit/errors.ts'
import { failureOf } from '../../accounts/kit/failure.ts'
import { addRawBody } from '../../accounts/kit/raw-body.ts'
import { clientOf } from '../../accounts/kit/register.ts'
import type { Origins } from '../../credentials/origins.ts'
import { addMethodNotAllowed } from '../../http/method-not-allowed.ts'
import type { RouteFamily } from '../../http/route-family.ts'
import { createAuthConfig, type HostParts } from './auth-config.ts'
import { hostErrors } from './host-errors.ts'
import { sendResponse, webRequestOf } from './web-request.ts'

export interface AuthHostOptions extends HostParts {
  origins: Origins
  publicUrl: () => string
}

/** What the library can do with one provider that asks for a password, and nothing else of it. */
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
  // The library would lead there without an error, too, and with any text as one.
  if (path === '/error') return await reply.redirect(signInErrorPath(base, request.query))
  const { config, throwFault } = createAuthConfig(options, base, clientOf(request))
  const response = await authJs.Auth(webRequestOf(request, `${base}/auth${path}`, codec), config)
  // The library makes of every error a page of its own; a database that is away is a 503 here as everywhere.
  throwFault()
  return await sendResponse(reply, response, base)
}

/** Where the errors are told that the library knows of; an error without a name is the default one. */
function signInErrorPath(base: string, query: unknown): string {
  const { pathname } = new URL(base)
  const { error } = query as Record<string, unknown>
  const known = hostErrors.find(name => name === error) ?? 'Default'
  return `${pathname === '/' ? '' : pathname}/sign-in?error=${known}`
}
