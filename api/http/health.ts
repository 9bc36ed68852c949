/** `/health/live` and `/health/ready`: short and cheap, because probes arrive every few seconds. */

import { z } from 'zod'
import type { ServerOperation } from './server-operation.ts'

const Readiness = z
  .union([
    z.object({ status: z.literal('ok') }),
    z.object({ status: z.enum(['degraded', 'unavailable']), reasons: z.array(z.string()) }),
  ])
  .meta({ id: 'Readiness', description: 'degraded: readings are accepted, with faults elsewhere.' })

/**
 * `ok`: no faults. `degraded`: readings are accepted, with faults elsewhere. `unavailable`: no readings are accepted.
 */
export type Readiness = z.infer<typeof Readiness>

export function healthOperations(readiness: () => Readiness): ServerOperation[] {
  return [
    {
      method: 'GET',
      path: '/health/live',
      name: 'is_live',
      summary: 'Liveness of the process',
      success: { status: 200, description: 'The process is alive', json: z.object({ status: z.literal('ok') }) },
      handler: (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/health/ready',
      name: 'is_ready',
      summary: 'Readiness for readings',
      success: { status: 200, description: 'Readings are accepted', json: Readiness },
      others: { 503: { description: 'Readings are refused', json: Readiness } },
      handler(_request, reply) {
        const current = readiness()
        const status = current.status === 'unavailable' ? 503 : 200
        return reply.code(status).header('cache-control', 'no-store').send(current)
      },
    },
  ]
}
