/** What the server itself answers, as a part of the published contract: its health and its metrics. */

import { z } from 'zod'
import { type ServerErrorCode, serverErrors } from '../http/errors.ts'
import type { Operation } from '../http/operation.ts'
import type { Contract } from './contract.ts'
import { publishOperations } from './published-operations.ts'

const ServerError = z.object({ status: z.string() }).meta({ id: 'ServerError' })

const Readiness = z
  .union([
    z.object({ status: z.literal('ok') }),
    z.object({ status: z.enum(['degraded', 'unavailable']), reasons: z.array(z.string()) }),
  ])
  .meta({ id: 'Readiness', description: 'degraded: readings are taken, and something else is not right.' })

/** http/health.ts and http/metrics.ts answer them. */
const operations: Operation<ServerErrorCode>[] = [
  {
    method: 'GET',
    path: '/health/live',
    name: 'is_live',
    summary: 'Whether the process answers',
    success: { status: 200, description: 'It does', json: z.object({ status: z.literal('ok') }) },
  },
  {
    method: 'GET',
    path: '/health/ready',
    name: 'is_ready',
    summary: 'Whether readings are taken',
    success: { status: 200, description: 'They are', json: Readiness },
    others: { 503: { description: 'No readings can be taken', json: Readiness } },
  },
  {
    method: 'GET',
    path: '/metrics',
    name: 'read_metrics',
    summary: 'The metrics, for Prometheus',
    description: 'From the machine itself without a credential, else for administrators.',
    credentials: ['adminToken', 'bearerKey', 'apiKey', 'session'],
    isCredentialOptional: true,
    success: { status: 200, description: 'The metrics', text: ['text/plain'] },
    refusals: ['UNAUTHORIZED'],
  },
]

export function serverContract(): Contract {
  return publishOperations<Operation<ServerErrorCode>>({
    prefix: '',
    tag: { name: 'server', description: 'For probes and for Prometheus.' },
    operations,
    error: { schema: ServerError },
    refusalsOf: ({ refusals = [] }) => [...refusals, 'INTERNAL' as const].map(code => serverErrors[code]),
    securitySchemes,
  })
}

/** Of several families; those of accounts stand in their contract. */
const securitySchemes = {
  adminToken: { type: 'http', scheme: 'bearer', description: 'The local admin token, of secrets/admin-token.' },
  bearerKey: { type: 'http', scheme: 'bearer', description: 'An API key.' },
}
