/** Metrics of the service's parts: each is asked at each scrape. */

import { Gauge, type Registry } from 'prom-client'
import type { TopicState } from '../ingest/kafka/topic-watch.ts'
import type { CacheStatus } from '../query/cache/body-cache.ts'
import type { LiveCounts } from '../query/live/live-state.ts'
import { liveStates } from '../query/live/live-state.ts'
import { counter, gauge } from '../store/metric-kinds.ts'
import { addIngest, type IngestMetricsOptions } from './ingest-metrics.ts'
import { addKafka } from './kafka-metrics.ts'
import type { DiskState, DiskUse } from './lifecycle/disk/disk-use.ts'
import type { Retention } from './lifecycle/retention/retention.ts'
import { addNode } from './node-metrics.ts'
import type { ServiceNodes } from './open-nodes.ts'

export interface ServiceMetricsOptions extends IngestMetricsOptions {
  devices: () => number
  /** Of each replica. */
  questdbs: readonly { readonly number: number; readonly isUp: () => boolean }[]
  /** Number of queued queries by pool. */
  queriesQueued: () => Readonly<Record<string, number>>
  cache: () => CacheStatus
  /** Devices by state; undefined while it is not known. */
  states: () => LiveCounts | undefined
  /** Undefined where the journals are on disk. */
  topics?: (() => TopicState[]) | undefined
  nodes: Pick<ServiceNodes, 'count' | 'several'>
  disk: DiskUse['read']
  retention: Retention['state']
  version: string
}

export function addServiceMetrics(registry: Registry, options: ServiceMetricsOptions): void {
  addIngest(registry, options)
  if (options.topics !== undefined) addKafka(registry, options.topics)
  addNode(registry, options.nodes)
  gauge(registry, 'barograph_devices', 'Devices in the registry.', options.devices)
  addQuestdbs(registry, options.questdbs)
  addQueries(registry, options.queriesQueued)
  addCache(registry, options.cache)
  addStates(registry, options.states)
  addDisk(registry, options.disk)
  addRetention(registry, options.retention)
  addBuildInfo(registry, options.version)
}

/** One alone has no label. */
function addQuestdbs(registry: Registry, questdbs: ServiceMetricsOptions['questdbs']): void {
  const isAlone = questdbs.length === 1
  new Gauge({
    name: 'barograph_questdb_up',
    help: isAlone ? '1 when QuestDB answers.' : '1 when the QuestDB of the replica answers.',
    labelNames: isAlone ? [] : ['replica'],
    registers: [registry],
    collect() {
      for (const { number, isUp } of questdbs) this.set(isAlone ? {} : { replica: number }, isUp() ? 1 : 0)
    },
  })
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

function addStates(registry: Registry, states: ServiceMetricsOptions['states']): void {
  new Gauge({
    name: 'barograph_device_states',
    help: 'Devices by state, as /api/fleet has them; NaN while that is not known.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const counts = states()
      for (const state of liveStates) this.set({ state }, counts?.[state] ?? Number.NaN)
    },
  })
}

function addDisk(registry: Registry, read: ServiceMetricsOptions['disk']): void {
  // What cannot be told must not cost the scrape: this is asked when files run out, too.
  const disk = (name: keyof DiskState) => async () => {
    const state = await read().catch(() => undefined)
    return state?.[name] ?? Number.NaN
  }
  gauge(registry, 'barograph_disk_free_bytes', 'Free space on the disk of the data directory.', disk('freeBytes'))
  gauge(registry, 'barograph_disk_size_bytes', 'Size of that disk.', disk('totalBytes'))
  const growth = 'Growth of journals and managed databases per day, by the last two weeks; NaN while unknown.'
  gauge(registry, 'barograph_disk_growth_bytes_per_day', growth, disk('growthBytesPerDay'))
  const full = 'Time until the disk is full at that rate; NaN while unknown and when nothing grows.'
  const days = disk('daysUntilFull')
  gauge(registry, 'barograph_disk_full_seconds', full, async () => (await days()) * 86_400)
  const parts = { journal: 'journalBytes', questdb: 'questdbBytes', postgres: 'postgresBytes' } as const
  new Gauge({
    name: 'barograph_disk_used_bytes',
    help: 'Space on that disk, by part; measured once an hour.',
    labelNames: ['part'],
    registers: [registry],
    async collect() {
      for (const [part, name] of Object.entries(parts)) this.set({ part }, await disk(name)())
    },
  })
}

function addRetention(registry: Registry, state: Retention['state']): void {
  const seconds = (ms: number | undefined) => (ms === undefined ? Number.NaN : ms / 1000)
  gauge(registry, 'barograph_retention_seconds', 'RETENTION_DAYS; NaN when raw readings never expire.', () => {
    return (state().days ?? Number.NaN) * 86_400
  })
  const oldest = 'Start of the oldest day with raw readings; NaN while unknown and when they never expire.'
  gauge(registry, 'barograph_oldest_reading_day_seconds', oldest, () => seconds(state().oldestDayMs))
  counter(
    registry,
    'barograph_expired_partitions_total',
    'Days whose raw readings were removed.',
    () => state().expiredDays,
  )
  const run = 'When it was last looked which days have to expire; NaN before, and when they never do.'
  gauge(registry, 'barograph_retention_run_seconds', run, () => seconds(state().lastRunMs))
  const waiting = 'Days whose raw readings are due and stay until a person confirms, or newer readings come.'
  gauge(registry, 'barograph_retention_waiting_partitions', waiting, () => state().waiting?.days ?? 0)
  gauge(registry, 'barograph_retention_failed', '1 when that failed.', () => (state().fault === undefined ? 0 : 1))
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
