/** Adds metrics of the service's parts, which are read at each scrape. */

import { Gauge, type Registry } from 'prom-client'
import { shortNodeId } from '../auth/nodes/node-states.ts'
import type { IngestStatus } from '../ingest/ingest.ts'
import type { TopicSight, TopicState } from '../ingest/kafka/state/watch.ts'
import type { CacheStatus } from '../query/cache/body-cache.ts'
import { type LiveCounts, liveStates } from '../query/live/live-state.ts'
import { counter, gauge } from '../store/metric-kinds.ts'
import type { DiskState, DiskUse } from './lifecycle/disk/disk-use.ts'
import type { Retention } from './lifecycle/retention/retention.ts'
import type { ServiceNodes } from './open-nodes.ts'

export interface ServiceMetricsOptions extends IngestMetricsOptions {
  devices: () => number
  /** One for each replica. */
  questdbs: readonly { readonly number: number; readonly isUp: () => boolean }[]
  queriesQueued: () => Readonly<Record<string, number>>
  cache: () => CacheStatus
  /** Devices by state; undefined while it is unknown. */
  states: () => LiveCounts | undefined
  /** Undefined with journals on disk. */
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

/** A single one has no label. */
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
  counter(registry, 'barograph_cache_hits_total', 'Answers from the cache.', () => status().hits)
  counter(registry, 'barograph_cache_misses_total', 'Answers that were computed.', () => status().misses)
  gauge(registry, 'barograph_cache_bytes', 'Memory of cached answers.', () => status().bytes)
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
  // A failed measurement must not fail the scrape, which also runs when the process is out of file descriptors.
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
  const run = 'Time of the last check for expiring days; NaN before, and if readings never expire.'
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

/** Metrics of a node among others; absent for a single process. */
function addNode(registry: Registry, { count, several }: Pick<ServiceNodes, 'count' | 'several'>): void {
  if (several === undefined) return
  const { own } = several
  const { id, role, host } = own()
  const info = new Gauge({
    name: 'barograph_node_info',
    help: 'Always 1; its labels name the node.',
    labelNames: ['node', 'role', 'host'],
    registers: [registry],
  })
  info.set({ node: shortNodeId(id), role, host }, 1)
  gauge(registry, 'barograph_nodes', 'Nodes that take requests, with this one.', count)
  const lease = '1 while this node may authorize from memory.'
  gauge(registry, 'barograph_node_lease_valid', lease, () => Number(own().isLeaseValid))
  const age = 'Age of the lease of this node; +Inf once it was released.'
  gauge(registry, 'barograph_node_lease_age_seconds', age, () => own().leaseAgeMs / 1000)
  const applied = 'Number of the last change of a registry that this node has applied.'
  gauge(registry, 'barograph_node_applied_change', applied, () => own().applied)
  const ahead = "Seconds by which the clock of this node is ahead of PostgreSQL's clock; NaN until measured."
  gauge(registry, 'barograph_node_clock_ahead_seconds', ahead, () => (own().clockAheadMs ?? Number.NaN) / 1000)
  gauge(registry, 'barograph_node_leads', '1 while this node is the leader.', () => Number(own().leads))
}

/** Metrics of Kafka topics that serve as journals; absent without Kafka. */
function addKafka(registry: Registry, states: () => TopicState[]): void {
  const add = (name: string, help: string, value: (state: TopicState) => number | undefined) => {
    new Gauge({
      name: `barograph_kafka_topic_${name}`,
      help: `${help} NaN until it was read.`,
      labelNames: ['topic'],
      registers: [registry],
      collect() {
        for (const state of states()) this.set({ topic: state.topic }, value(state) ?? Number.NaN)
      },
    })
  }
  const seen = (name: string, help: string, value: (sight: TopicSight) => number) => {
    add(name, help, ({ sight }) => (sight === undefined ? undefined : value(sight)))
  }
  seen('start_offset', 'Offset of the first record that Kafka has.', ({ start }) => start)
  seen('end_offset', 'Offset of the next record to come.', ({ end }) => end)
  seen('committed_offset', 'Offset before which everything is in QuestDB.', ({ applied }) => applied)
  seen('lag_records', 'Records that wait for QuestDB, each a group of rows.', lagOf)
  seen('replicas', 'Replicas of the topic.', ({ replicas }) => replicas)
  seen('in_sync_replicas', 'Brokers that have all of its records.', ({ inSync }) => inSync)
  seen('under_replicated', '1 while a replica is not in sync.', ({ inSync, replicas }) => Number(inSync < replicas))
  seen('retention_seconds', 'How long Kafka keeps records; +Inf for ever.', ({ retentionMs }) => retentionMs / 1000)
  add('retention_used_ratio', 'Part of that which the oldest waiting record has used.', ({ share }) => share)
  add('unreachable', '1 while the topic cannot be read.', ({ problems }) => {
    return Number(problems.some(({ kind }) => kind === 'unreachable' || kind === 'other'))
  })
}

function lagOf({ start, end, applied }: TopicSight): number {
  return Math.max(0, end - Math.max(start, applied))
}

interface IngestMetricsOptions {
  ingest: () => IngestStatus
  points: () => IngestStatus
}

/** Metrics of the write paths. */
function addIngest(registry: Registry, { ingest, points }: IngestMetricsOptions): void {
  addWritePath(registry, 'readings', '', ingest)
  addWritePath(registry, 'points', 'points_', points)
  counter(registry, 'barograph_clock_steps_total', 'Clock steps of more than a second.', () => {
    return ingest().clock.steps
  })
}

/** Metrics of readings are older than the second write path, and have no prefix. */
function addWritePath(registry: Registry, rows: 'readings' | 'points', prefix: string, read: () => IngestStatus): void {
  const total = (name: string, help: string, value: (status: IngestStatus) => number) =>
    counter(registry, `barograph_${name}_total`, help, () => value(read()))
  const level = (name: string, help: string, value: (status: IngestStatus) => number) =>
    gauge(registry, `barograph_${name}`, help, () => value(read()))
  const ofJournal = `the journal of ${rows}`
  total(`${rows}_durable`, `Records synced to ${ofJournal}, by every way in.`, s => s.journal.records)
  total(`${prefix}journal_groups`, `Syncs of ${ofJournal}; durable ${rows} by groups is the mean group.`, s => {
    return s.journal.groups
  })
  total(`${rows}_forwarded`, 'Rows that QuestDB has taken.', s => s.forwarder.rows)
  total(`${rows}_applied`, `Records of ${ofJournal} that queries show.`, s => s.forwarder.appliedOrdinal)
  level(`lag_${rows}`, `Number of ${rows} on disk that no query shows yet.`, s => s.lag.rows)
  level(`${prefix}lag_seconds`, 'How long the oldest of them has waited.', s => s.lag.seconds)
  level(`${prefix}journal_bytes`, `Size of ${ofJournal}.`, s => s.journal.bytes)
  level(`${prefix}journal_damaged_bytes`, `Bytes of ${ofJournal} in quarantine.`, damagedBytes)
  level(`${prefix}dead_letters`, `Number of ${rows} that QuestDB refused.`, s => s.forwarder.deadLetters)
  level(`${prefix}stamp_ahead_seconds`, 'How far the newest stamp lies ahead of the clock.', s => s.clock.aheadSeconds)
  level(`${prefix}table_suspended`, '1 while QuestDB has suspended the table.', s => (s.forwarder.suspended ? 1 : 0))
}

function damagedBytes({ journal, forwarder }: IngestStatus): number {
  return journal.tornBytes + forwarder.damagedBytes
}
