/** A server that routes as the real one does, without the rest of the service. */

import { METHODS } from 'node:http'
import { type FastifyInstance, fastify } from 'fastify'
import { createFamilyFinder, type RouteFamily } from '../../api/http/route-family.ts'
import { addSecurityHeaders } from '../../api/http/security-headers.ts'

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
