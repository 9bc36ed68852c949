/** Metrics of the service's parts: each is asked at each scrape. */

import { Gauge, type Registry } from 'prom-client'
import type { CacheStatus } from '../query/cache/body-cache.ts'
import { counter, gauge } from './http/metric-kinds.ts'
import { addIngest, type IngestMetricsOptions } from './ingest-metrics.ts'

export interface ServiceMetricsOptions extends IngestMetricsOptions {
  devices: () => number
  questdbUp: () => boolean
  /** Number of queued queries by pool. */
  queriesQueued: () => Readonly<Record<string, number>>
  cache: () => CacheStatus
  disk: () => Promise<{ freeBytes: number; totalBytes: number }>
  version: string
}

export function addServiceMetrics(registry: Registry, options: ServiceMetricsOptions): void {
  addIngest(registry, options)
  gauge(registry, 'barograph_devices', 'Devices in the registry.', options.devices)
  gauge(registry, 'barograph_questdb_up', '1 when QuestDB answers.', () => (options.questdbUp() ? 1 : 0))
  addQueries(registry, options.queriesQueued)
  addCache(registry, options.cache)
  addDisk(registry, options.disk)
  addBuildInfo(registry, options.version)
}

function addQueries(registry: Registry, waiting: ServiceMetricsOptions['queriesQueued']): void {
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

function addCache(registry: Registry, status: ServiceMetricsOptions['cache']): void {
  counter(registry, 'barograph_cache_hits_total', 'Answers given from memory.', () => status().hits)
  counter(registry, 'barograph_cache_misses_total', 'Answers that had to be made.', () => status().misses)
  gauge(registry, 'barograph_cache_bytes', 'Memory that kept answers take.', () => status().bytes)
}

function addDisk(registry: Registry, read: ServiceMetricsOptions['disk']): void {
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
