/** `/health/live` and `/health/ready`: short, and never an expensive check, because probes come every few seconds. */

import type { FastifyInstance } from 'fastify'
import { addMethodNotAllowed } from './method-not-allowed.ts'

/** `ok`: all is well. `degraded`: readings are taken, something else is not right. `unavailable`: none can be taken. */
export type Readiness = { status: 'ok' } | { status: 'degraded' | 'unavailable'; reasons: string[] }

export function registerHealth(app: FastifyInstance, readiness: () => Readiness): void {
  for (const url of ['/health/live', '/health/ready']) addMethodNotAllowed(app, url, ['GET', 'HEAD'])
  app.get('/health/live', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }))
  app.get('/health/ready', (_request, reply) => {
    const current = readiness()
    return reply
      .code(current.status === 'unavailable' ? 503 : 200)
      .header('cache-control', 'no-store')
      .send(current)
  })
}
