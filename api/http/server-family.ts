/** Declares the server's own answers: health and metrics. */

import { z } from 'zod'
import { refuseMethod, serverErrors } from './errors.ts'
import type { Metrics } from './metrics.ts'
import type { ServerOperation } from './operation.ts'
import { createFamily, type PublishedFamily } from './route-family.ts'

export interface ServerFamilyOptions {
  readiness: () => Readiness
  metrics: Pick<Metrics, 'operation'>
}

export function serverFamily({ readiness, metrics }: ServerFamilyOptions): PublishedFamily<ServerOperation> {
  return createFamily<ServerOperation>({
    prefix: '',
    tag: { name: 'server', description: 'For probes and for Prometheus.' },
    groups: [{ operations: [...healthOperations(readiness), metrics.operation] }],
    rules: {
      handler: ({ handler }) => handler,
      refuseMethod: (_request, reply, allowed) => refuseMethod(reply, allowed),
    },
    error: { schema: ServerError },
    refusalsOf: ({ refusals = [] }) => [...refusals, 'INTERNAL' as const].map(code => serverErrors[code]),
    securitySchemes,
    prepare: () => undefined,
  })
}

const ServerError = z.object({ status: z.string() }).meta({ id: 'ServerError' })

/** Several families use these. The contract of accounts has its own. */
const securitySchemes = {
  adminToken: { type: 'http', scheme: 'bearer', description: 'The local admin token, of secrets/admin-token.' },
  bearerKey: { type: 'http', scheme: 'bearer', description: 'An API key.' },
}

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

/** Short and cheap, because probes arrive every few seconds. */
function healthOperations(readiness: () => Readiness): ServerOperation[] {
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
