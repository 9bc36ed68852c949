/** A server that routes as the real one does, without the rest of the service. */

import { METHODS } from 'node:http'
import { type FastifyInstance, fastify, type InjectOptions } from 'fastify'
import { addSecurityHeaders } from '../../api/http/response-headers.ts'
import { createFamilyFinder, type RouteFamily } from '../../api/http/route-family.ts'

export interface AskOptions {
  /** JSON, unless it is text or bytes. */
  body?: unknown
  headers?: Record<string, string>
  /** The address that sends the request. */
  address?: string | undefined
}

/** Sends requests to a server in this process. Paths are below the prefix. An answer that is not JSON has an empty body. */
export function createAsk(app: FastifyInstance, prefix = '') {
  return async (method: string, path: string, { body, headers = {}, address }: AskOptions = {}) => {
    const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
    const response = await app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: `${prefix}${path}`,
      headers: { ...(body === undefined || isRaw ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { payload: isRaw ? body : JSON.stringify(body) }),
      ...(address === undefined ? {} : { remoteAddress: address }),
    })
    const { statusCode: status, body: text } = response
    const answered: Record<string, unknown> = response.headers
    const isJson = text !== '' && String(answered['content-type']).startsWith('application/json')
    const parsed: Record<string, unknown> = isJson ? JSON.parse(text) : {}
    return { status, headers: answered, text, body: parsed }
  }
}

/** The one proxy whose headers count. */
export const trustedProxy = '10.9.8.7'

export function createApp(...families: readonly RouteFamily[]): FastifyInstance {
  const familyOf = createFamilyFinder(families)
  const app = fastify({
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 768 },
    trustProxy: trustedProxy,
    rewriteUrl: ({ url = '/' }) => familyOf(url)?.routedUrl?.(url) ?? url,
    frameworkErrors: (error, request, reply) =>
      familyOf(request.url)?.refusePath?.(request, reply, error.statusCode ?? 400),
  })
  addSecurityHeaders(app)
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method)
  }
  for (const { prefix, register } of families) {
    app.register(
      (scope, _options, done) => {
        register(scope)
        done()
      },
      { prefix },
    )
  }
  return app
}
