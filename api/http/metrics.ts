/** `GET /metrics`: Prometheus text of the registry, with metrics of the process and of all requests. */

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { sendServerError } from './errors.ts'
import { isLocalRequest } from './local-request.ts'
import { measureRequests } from './request-durations.ts'
import type { ServerOperation } from './server-operation.ts'

export interface Metrics {
  /** Other parts add their metrics here. */
  registry: Registry
  measure(app: FastifyInstance): void
  operation: ServerOperation
}

export interface MetricsOptions {
  /** True if an administrator sends the request. Only checked for other machines. */
  isAdmin: (request: IncomingMessage) => Promise<boolean>
  /** True if the address belongs to a proxy. */
  isTrusted: (address: string) => boolean
}

/** Shortest interval between two texts. */
const freshMsMax = 1000

/** Gauges with the suffix of a counter, which promtool rejects. Each is the sum of the gauge without it. */
const sumsOfGauges = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total']

export function createMetrics({ isAdmin, isTrusted }: MetricsOptions): Metrics {
  const registry = new Registry()
  // Includes the delay of the event loop, by quantile.
  collectDefaultMetrics({ register: registry })
  for (const name of sumsOfGauges) registry.removeSingleMetric(name)
  let made: { text: Promise<string>; atMs: number } | undefined

  function text(): Promise<string> {
    const atMs = performance.now()
    if (made === undefined || atMs - made.atMs > freshMsMax) made = { text: registry.metrics(), atMs }
    return made.text
  }

  return {
    registry,
    measure: app => measureRequests(app, registry),
    operation: {
      method: 'GET',
      path: '/metrics',
      name: 'read_metrics',
      summary: 'The metrics, for Prometheus',
      description: 'From the machine itself without a credential, else for administrators.',
      credentials: ['adminToken', 'bearerKey', 'apiKey', 'session'],
      isCredentialOptional: true,
      success: { status: 200, description: 'The metrics', text: ['text/plain'] },
      refusals: ['UNAUTHORIZED'],
      async handler(request, reply) {
        if (!isLocalRequest(request.raw, isTrusted) && !(await isAdmin(request.raw))) {
          return sendServerError(reply.header('www-authenticate', 'Bearer realm="metrics"'), 'UNAUTHORIZED')
        }
        return reply.type(registry.contentType).send(await text())
      },
    },
  }
}
