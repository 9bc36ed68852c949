/** `GET /metrics`: Prometheus text of the registry, with metrics of the process and of all requests. */

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { collectDefaultMetrics, type Histogram, Registry } from 'prom-client'
import { sendServerError } from './errors.ts'
import { addEventLoopMetrics, withoutMonitor } from './event-loop-delay.ts'
import type { ServerOperation } from './operation.ts'
import { isLocalRequest } from './request-address.ts'

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
  collectDefaultMetrics({ register: registry, ...withoutMonitor })
  addEventLoopMetrics(registry)
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

declare module 'fastify' {
  interface FastifyRequest {
    startedMs: number
  }
}

const boundsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS'])

interface Series {
  labels: Record<'method' | 'route' | 'status', string>
  /** Counts by bucket. The last one has durations beyond all bounds. */
  counts: Float64Array
  sumSeconds: number
}

/** Measures requests by route. The histogram of the library takes 1 µs more a request, of 12 for a short answer. */
function measureRequests(app: FastifyInstance, registry: Registry): void {
  const durations = new Durations()
  // The library accepts any object with these members, but its type requires the whole class.
  registry.registerMetric(durations as unknown as Histogram<string>)
  app.decorateRequest('startedMs', 0)
  app.addHook('onRequest', (request, _reply, done) => {
    request.startedMs = performance.now()
    done()
  })
  // Measures until the answer is ready. The client's reading time is excluded.
  app.addHook('onSend', (request, reply, _payload, done) => {
    durations.add(request, reply)
    done()
  })
}

class Durations {
  readonly name = 'barograph_http_request_duration_seconds'
  readonly help = 'Duration from the request head to the answer, by route, method and status class.'
  readonly type = 'histogram'
  /** Bounded: routes are fixed, and unknown methods and paths share one name each. */
  readonly #series = new Map<string, Series>()

  add(request: FastifyRequest, reply: FastifyReply): void {
    const seconds = (performance.now() - request.startedMs) / 1000
    const route = request.routeOptions.url ?? 'none'
    const method = methods.has(request.method) ? request.method : 'other'
    const status = `${Math.floor(reply.statusCode / 100)}xx`
    const key = `${method} ${status} ${route}`
    let series = this.#series.get(key)
    if (series === undefined) {
      series = { labels: { method, route, status }, counts: new Float64Array(boundsSeconds.length + 1), sumSeconds: 0 }
      this.#series.set(key, series)
    }
    let bucket = 0
    while (seconds > (boundsSeconds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.sumSeconds += seconds
  }

  async get() {
    const { name, help, type } = this
    return { name, help, type, values: [...this.#series.values()].flatMap(series => samplesOf(name, series)) }
  }

  reset(): void {
    this.#series.clear()
  }
}

interface Sample {
  metricName: string
  labels: Record<string, string | number>
  value: number
}

function samplesOf(name: string, { labels, counts, sumSeconds }: Series): Sample[] {
  let count = 0
  const buckets: Sample[] = Array.from(counts, (inBucket, index) => {
    count += inBucket
    const le = boundsSeconds[index] ?? '+Inf'
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sumSeconds },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
