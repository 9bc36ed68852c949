/** `GET /metrics`: Prometheus text. What happens for each reading is a plain counter; the rest is asked at each scrape. */

import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { IngestStatus } from '../../ingest/ingest.ts'
import type { CacheStatus } from '../../query/cache/body-cache.ts'
import { addIngest } from './ingest-metrics.ts'
import { isLocalRequest } from './local-request.ts'
import { counter, gauge } from './metric-kinds.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { measureRequests } from './request-durations.ts'

/** Why `PUT /api/log` does not take a reading. */
export const rejectionReasons = [
  'unauthorized',
  'throttled',
  'mismatch',
  'suspended',
  'disabled',
  'invalid',
  'media_type',
  'too_large',
  'timeout',
  'full',
  'closing',
  'unknown',
] as const
export type RejectionReason = (typeof rejectionReasons)[number]

/** What the way of a reading reports while it runs. */
export interface IngestMeter {
  /** A reading was acknowledged, so long after its body was there. */
  stored(elapsedMs: number): void
  rejected(reason: RejectionReason): void
}

export interface Metrics {
  meter: IngestMeter
  register(app: FastifyInstance): void
}

export interface MetricsOptions {
  ingest: () => IngestStatus
  devices: () => number
  questdbUp: () => boolean
  /** Queries that wait for a thread, by pool. */
  queriesQueued: () => Readonly<Record<string, number>>
  cache: () => CacheStatus
  disk: () => Promise<{ freeBytes: number; totalBytes: number }>
  version: string
  /** Knows the admin token, which is asked for when the scrape comes from another machine. */
  isAdmin: (rawHeaders: readonly string[]) => boolean
  /** Whether an address is that of a proxy. */
  isTrusted: (address: string) => boolean
}

/** However many ask, the text is made no more often than this. */
const freshMsMax = 1000

const ackSeconds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5]

export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry()
  // Among them the delay of the event loop, by quantile.
  collectDefaultMetrics({ register: registry })
  const ack = new Histogram({
    name: 'barograph_ack_seconds',
    help: 'From the whole request to the acknowledgement of a reading that is on disk.',
    buckets: ackSeconds,
    registers: [registry],
  })
  const rejects = createRejects(registry)
  let accepted = 0
  counter(registry, 'barograph_readings_accepted_total', 'Readings acknowledged by PUT /api/log.', () => accepted)
  addIngest(registry, options.ingest)
  gauge(registry, 'barograph_devices', 'Devices in the registry.', options.devices)
  gauge(registry, 'barograph_questdb_up', '1 when QuestDB answers.', () => (options.questdbUp() ? 1 : 0))
  addQueries(registry, options.queriesQueued)
  addCache(registry, options.cache)
  addDisk(registry, options.disk)
  addBuildInfo(registry, options.version)
  let made: { text: Promise<string>; atMs: number } | undefined

  function text(): Promise<string> {
    const atMs = performance.now()
    if (made === undefined || atMs - made.atMs > freshMsMax) made = { text: registry.metrics(), atMs }
    return made.text
  }

  return {
    meter: {
      stored(elapsedMs) {
        accepted++
        ack.observe(elapsedMs / 1000)
      },
      rejected: reason => rejects.inc({ reason }),
    },
    register(app) {
      measureRequests(app, registry)
      app.get('/metrics', async (request, reply) => {
        if (!isLocalRequest(request.raw, options.isTrusted) && !options.isAdmin(request.raw.rawHeaders)) {
          return reply.code(401).header('www-authenticate', 'Bearer realm="metrics"').send({ status: 'unauthorized' })
        }
        return reply.type(registry.contentType).send(await text())
      })
      refuseOtherMethods(app, '/metrics', ['GET', 'HEAD'])
    },
  }
}

/** Every reason is there from the start, so that a rate over the first of them is seen. */
function createRejects(registry: Registry): Counter<'reason'> {
  const rejects = new Counter({
    name: 'barograph_readings_rejected_total',
    help: 'Readings that PUT /api/log refused, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of rejectionReasons) rejects.inc({ reason }, 0)
  return rejects
}

function addCache(registry: Registry, status: MetricsOptions['cache']): void {
  counter(registry, 'barograph_cache_hits_total', 'Answers given from memory.', () => status().hits)
  counter(registry, 'barograph_cache_misses_total', 'Answers that had to be made.', () => status().misses)
  gauge(registry, 'barograph_cache_bytes', 'Memory that kept answers take.', () => status().bytes)
}

function addDisk(registry: Registry, read: MetricsOptions['disk']): void {
  // What cannot be told must not cost the scrape: this is asked when files run out, too.
  const disk = () => read().catch(() => ({ freeBytes: Number.NaN, totalBytes: Number.NaN }))
  gauge(registry, 'barograph_disk_free_bytes', 'Free space on the disk of the data directory.', async () => {
    return (await disk()).freeBytes
  })
  gauge(registry, 'barograph_disk_size_bytes', 'Size of that disk.', async () => (await disk()).totalBytes)
}

function addBuildInfo(registry: Registry, version: string): void {
  const info = new Gauge({
    name: 'barograph_build_info',
    help: 'Always 1; its labels say what runs.',
    labelNames: ['version', 'node_version'],
    registers: [registry],
  })
  info.set({ version, node_version: process.versions.node }, 1)
}

function addQueries(registry: Registry, waiting: MetricsOptions['queriesQueued']): void {
  new Gauge({
    name: 'barograph_queries_queued',
    help: 'Queries that wait for a worker thread, by pool.',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const [pool, count] of Object.entries(waiting())) this.set({ pool }, count)
    },
  })
}
