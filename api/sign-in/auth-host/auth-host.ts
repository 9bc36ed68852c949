/**
 * Serves the Auth.js host, `/auth`: a front end on this address signs people in with the Auth.js client. It uses the
 * service's session cookies: each sign-in is a row of `sessions`, and a revoked session ends at its next read.
 */

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendError } from '../../accounts/kit/errors.ts'
import { failureOf } from '../../accounts/kit/failure.ts'
import { addRawBody } from '../../accounts/kit/raw-body.ts'
import { clientOf } from '../../accounts/kit/register.ts'
import type { Origins } from '../../credentials/origins.ts'
import { addMethodNotAllowed } from '../../http/errors.ts'
import type { RouteFamily } from '../../http/route-family.ts'
import { createAuthConfig, type HostParts } from './auth-config.ts'
import { hostErrors } from './host-errors.ts'
import { sendResponse, webRequestOf } from './web-request.ts'

export interface AuthHostOptions extends HostParts {
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
