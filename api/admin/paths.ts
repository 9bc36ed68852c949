/** One path of the admin API with its methods; every other method is told which ones there are. */

import type { FastifyInstance, RouteHandlerMethod } from 'fastify'
import { sendProblem } from './problem.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
type Method = (typeof methods)[number]

export interface PathOptions {
  bodyBytesMax?: number
}

export function addPath(
  scope: FastifyInstance,
  url: string,
  handlers: Partial<Record<Method, RouteHandlerMethod>>,
  { bodyBytesMax = 64 * 1024 }: PathOptions = {},
): void {
  const known = methods.filter(method => handlers[method] !== undefined)
  for (const method of known) {
    const handler = handlers[method]
    if (handler !== undefined) scope.route({ method, url, handler, bodyLimit: bodyBytesMax })
  }
  const allow = known.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  scope.route({
    method: scope.supportedMethods.filter(method => !allow.includes(method)),
    url,
    // Told before anything of the body is looked at.
    onRequest: async (_request, reply) => {
      reply.header('allow', allow.join(', ')).header('connection', 'close')
      return await sendProblem(reply, 'METHOD_NOT_ALLOWED')
    },
    handler: () => undefined,
  })
}
