/** Declares the server's own answers: health and metrics. */

import { z } from 'zod'
import { serverErrors } from './errors.ts'
import { healthOperations, type Readiness } from './health.ts'
import { refuseMethod } from './method-not-allowed.ts'
import type { Metrics } from './metrics.ts'
import { createFamily, type PublishedFamily } from './register-operations.ts'
import type { ServerOperation } from './server-operation.ts'

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
