/** A scrape has valid names and units for promtool, all of them from the start, and routes instead of addresses. */

import { setTimeout as sleep } from 'node:timers/promises'
import { fastify } from 'fastify'
import { test } from 'tap'
import { watchEventLoop } from '../../api/http/event-loop-delay.ts'
import { createMetrics } from '../../api/http/metrics.ts'
import { serverFamily } from '../../api/http/server-family.ts'
import { createBulkMeter } from '../../api/write/bulk-meter.ts'
import { createReadingMeter, rejectionReasons } from '../../ingest/intake/reading-meter.ts'
import type { TopicState } from '../../ingest/kafka/state/watch.ts'
import { createEventMeter } from '../../service/meters.ts'
import { addServiceMetrics, type ServiceMetricsOptions } from '../../service/service-metrics.ts'
import { closing } from '../support/databases.ts'
import { waitFor } from '../support/wait-for.ts'

/** Every figure is 0. */
const zeros = new Proxy({}, { get: () => 0 })

function startMetrics(t: { teardown(end: () => unknown): void }, more: Partial<ServiceMetricsOptions> = {}) {
  const metrics = createMetrics({ isAdmin: async () => false, isTrusted: () => false })
  const meter = createReadingMeter(metrics.registry)
  const bulkMeter = createBulkMeter(metrics.registry)
  createEventMeter(metrics.registry)
  addServiceMetrics(metrics.registry, {
    ingest: () => ({ journal: zeros, forwarder: zeros, lag: zeros, clock: zeros }) as never,
    points: () => ({ journal: zeros, forwarder: zeros, lag: zeros, clock: zeros }) as never,
    devices: () => 7,
    questdbs: [{ number: 1, isUp: () => true }],
    queriesQueued: () => ({ light: 0, analysis: 0 }),
    cache: () => ({ hits: 5, misses: 2, bytes: 1024 }),
    states: () => undefined,
    disk: async () => ({
      ...{ freeBytes: 1, totalBytes: 2, questdbBytes: 3, growthBytesPerDay: 4, daysUntilFull: 2 },
      ...{ journalBytes: undefined, postgresBytes: undefined },
    }),
    retention: () => ({
      ...{ days: 30, oldestDayMs: 86_400_000, expiredDays: 2, lastRunMs: 90_000_000, fault: undefined },
      waiting: { fromMs: 86_400_000, beforeMs: 864_000_000, days: 4, reason: 'several_days' },
    }),
    nodes: { count: () => 1, several: undefined },
    version: '1.2.3',
    ...more,
  })
  const app = closing(t, fastify())
  metrics.measure(app)
  serverFamily({ metrics, readiness: () => ({ status: 'ok' }) }).register(app)
  app.get('/api/device/:name', async () => 'x')
  app.put('/api/log', async (_request, reply) => reply.code(401).send('x'))
  return { meter, bulkMeter, app, scrape: async () => (await app.inject('/metrics')).body }
}

interface Family {
  help: string
  type: string
  samples: string[]
}

/** The families of a text, in their order. */
function familiesIn(text: string): [string, Family][] {
  const families: [string, Family][] = []
  for (const line of text.trim().split('\n')) {
    if (line === '') continue
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? []
    if (kind === 'HELP') families.push([name, { help: rest, type: '', samples: [] }])
    const family = families.at(-1)?.[1]
    if (family === undefined) throw new Error(`a sample before its help: ${line}`)
    if (kind === 'TYPE') family.type = rest
    if (kind === undefined) family.samples.push(line)
  }
  return families
}

/** The faults that `promtool check metrics` reports. */
function faultsOf([name, { help, type, samples }]: [string, Family]): string[] {
  const faults: string[] = []
  if (help === '') faults.push('has no help')
  if (!/^[a-z][a-z0-9_]*$/.test(name)) faults.push('is not in small letters')
  if ((type === 'counter') !== name.endsWith('_total')) faults.push('ends in _total exactly when it is a counter')
  if (/_(count|sum|bucket|info_total|gauge|counter|histogram|summary)$/.test(name))
    faults.push('has the name of a kind')
  const units =
    /(^|_)(ms|milliseconds|us|microseconds|ns|minutes|hours|days|kb|mb|kilobytes|megabytes|percent|sec|secs)(_|$)/
  if (units.test(name)) faults.push('has no base unit')
  const ofFamily = (sample: string) => {
    const suffix = type === 'histogram' ? '(_bucket|_sum|_count)' : ''
    return new RegExp(`^${name}${suffix}(\\{[^}]*\\})? \\S+$`).test(sample)
  }
  const foreign = samples.filter(sample => !ofFamily(sample))
  if (foreign.length > 0) faults.push(`has the samples ${foreign.join()}`)
  if (new Set(samples.map(sample => sample.split(' ')[0])).size < samples.length) faults.push('has a sample twice')
  return faults.map(fault => `${name} ${fault}`)
}

test('concurrent scrapes build the text once', async t => {
  let made = 0
  const devices = () => {
    made++
    return 7
  }
  const { app } = startMetrics(t, { devices })
  const scrapes = await Promise.all(Array.from({ length: 50 }, () => app.inject('/metrics')))
  t.ok(scrapes.every(({ statusCode, body }) => statusCode === 200 && /^barograph_devices 7$/m.test(body)))
  t.equal(made, 1)
})

test('names, units and help are valid for promtool, without duplicates', async t => {
  const { app, scrape } = startMetrics(t)
  await app.inject('/api/device/kitchen')
  const families = familiesIn(await scrape())
  for (const prefix of ['barograph_', 'process_', 'nodejs_']) t.ok(families.some(([name]) => name.startsWith(prefix)))
  t.ok(families.length > 40)
  t.strictSame(families.flatMap(faultsOf), [])
  const names = families.map(([name]) => name)
  t.equal(new Set(names).size, names.length)
  // The check itself finds faults.
  const bad = '# HELP barograph_x_ms y\n# TYPE barograph_x_ms counter\nbarograph_x_ms 1\nbarograph_x_ms 1\n'
  t.equal(familiesIn(bad).flatMap(faultsOf).length, 3)
})

test('the delay of the event loop has a blocking turn, and not the period of its timer', async t => {
  const delay = watchEventLoop()
  t.teardown(delay.close)
  await waitFor('a quiet second', async () => {
    delay.reset()
    await sleep(1000)
    return delay.percentileMs(50) < 50
  })
  const endMs = performance.now() + 400
  while (performance.now() < endMs);
  await waitFor('the turn is measured', async () => delay.maxMs() > 200)
})

const sender = { name: 'device porch', isKnown: true }

test('every reason of a rejection is present from the start, and is counted', async t => {
  const { meter, scrape } = startMetrics(t)
  meter.rejected('media_type', { way: 'put', sender, reason: 'unsupported media type' })
  const text = await scrape()
  for (const reason of rejectionReasons) {
    const count = reason === 'media_type' ? 1 : 0
    t.ok(text.includes(`\nbarograph_readings_rejected_total{reason="${reason}"} ${count}\n`), reason)
  }
})

test('readings of bodies are counted by protocol, with every protocol from the start', async t => {
  const { bulkMeter, scrape } = startMetrics(t)
  const leftOut = { rejected: 1, rejects: [] }
  bulkMeter.taken({ way: 'batch', sender }, 300, { rejected: 2, rejects: [], leftOut })
  bulkMeter.taken({ way: 'batch', sender }, 40, { rejected: 0, rejects: [], leftOut })
  bulkMeter.taken({ way: 'line_protocol', sender }, 0, { rejected: 5, rejects: [], leftOut })
  const text = await scrape()
  for (const [way, stored, rejected] of [
    ['batch', 340, 2],
    ['line_protocol', 0, 5],
    ['import', 0, 0],
  ] as const) {
    t.ok(text.includes(`\nbarograph_bulk_readings_stored_total{way="${way}"} ${stored}\n`), way)
    t.ok(text.includes(`\nbarograph_bulk_readings_rejected_total{way="${way}"} ${rejected}\n`), way)
  }
})

test('cache and build are shown, with or without a working disk query', async t => {
  const text = await startMetrics(t).scrape()
  const lines = {
    ...{ cache_hits_total: 5, cache_misses_total: 2, cache_bytes: 1024, disk_free_bytes: 1 },
    ...{ 'disk_used_bytes{part="questdb"}': 3, 'disk_used_bytes{part="postgres"}': 'Nan' },
    ...{ disk_growth_bytes_per_day: 4, disk_full_seconds: 172_800, retention_seconds: 2_592_000 },
    ...{ oldest_reading_day_seconds: 86_400, expired_partitions_total: 2, retention_run_seconds: 90_000 },
    ...{ retention_failed: 0, retention_waiting_partitions: 4 },
    [`build_info{version="1.2.3",node_version="${process.versions.node}"}`]: 1,
  }
  for (const [name, value] of Object.entries(lines)) t.match(text, `\nbarograph_${name} ${value}\n`)
  const away = await startMetrics(t, { disk: () => Promise.reject(new Error('EMFILE')) }).scrape()
  t.match(away, /\nbarograph_disk_free_bytes Nan\n.*\nbarograph_build_info/is)
})

test('durations are by route, method and class of the status, never by address', async t => {
  const { app, scrape } = startMetrics(t)
  for (const name of ['a', 'b', 'c']) await app.inject(`/api/device/${name}?x=${name}`)
  await app.inject({ method: 'PUT', url: '/api/log' })
  for (const url of ['/nowhere/1', '/nowhere/2']) await app.inject(url)
  const text = await scrape()
  const counted = [...text.matchAll(/^barograph_http_request_duration_seconds_count(.*)$/gm)].map(
    ([, count = '']) => count,
  )
  const expected = [
    '{method="GET",route="/api/device/:name",status="2xx"} 3',
    '{method="GET",route="none",status="4xx"} 2',
    '{method="PUT",route="/api/log",status="4xx"} 1',
  ]
  t.strictSame(new Set(counted), new Set(expected))
  const buckets = [...text.matchAll(/_bucket\{method="PUT",route="\/api\/log",status="4xx",le="([^"]+)"\} (\d)/g)]
  t.equal(buckets.at(-1)?.[1], '+Inf')
  t.equal(buckets.at(-1)?.[2], '1')
  t.equal(buckets.length, 15)
})

test('the topics of Kafka have metrics only where they are the journals', async t => {
  const offsets = { start: 5, end: 30, applied: 20, oldestMs: 1000 }
  const sight = { ...offsets, replicas: 3, inSync: 2, retentionMs: 604_800_000, weaknesses: [], unforwarded: [] }
  const seen: TopicState = { topic: 'a', sight, share: 0.25, unforwardedMs: 0, problems: [] }
  const problems: TopicState['problems'] = [{ kind: 'unreachable', text: 'away' }]
  const unseen: TopicState = { topic: 'b', sight: undefined, share: undefined, unforwardedMs: 0, problems }
  const body = await startMetrics(t, { topics: () => [seen, unseen] }).scrape()
  const figureOf = (name: string, topic: string) =>
    new RegExp(`^barograph_kafka_topic_${name}\\{topic="${topic}"\\} (.+)$`, 'm').exec(body)?.[1]
  const figures = {
    ...{ start_offset: '5', end_offset: '30', committed_offset: '20', lag_records: '10' },
    ...{ replicas: '3', in_sync_replicas: '2', under_replicated: '1', unreachable: '0' },
    ...{ retention_seconds: '604800', retention_used_ratio: '0.25' },
  }
  for (const [name, value] of Object.entries(figures)) {
    t.equal(figureOf(name, 'a'), value, name)
    t.equal(figureOf(name, 'b'), name === 'unreachable' ? '1' : 'Nan', name)
  }
  t.notMatch(await startMetrics(t).scrape(), 'kafka')
})

test('only a node among others names itself', async t => {
  const name = { id: '0123456789abcdef', role: 'api', version: '1', host: 'h-1', startedMs: 0 }
  const lease = { isLeaseValid: true, leaseAgeMs: 1_500, applied: 12, clockAheadMs: -250, leads: false, differing: [] }
  const state = { ...name, ...lease }
  const several = { own: () => state, states: async () => [state], sessions: undefined }
  const body = await startMetrics(t, { nodes: { count: () => 3, several } }).scrape()
  const ofNode = body.split('\n').filter(line => /^barograph_node/.test(line))
  t.strictSame(ofNode, [
    'barograph_node_info{node="01234567",role="api",host="h-1"} 1',
    'barograph_nodes 3',
    'barograph_node_lease_valid 1',
    'barograph_node_lease_age_seconds 1.5',
    'barograph_node_applied_change 12',
    'barograph_node_clock_ahead_seconds -0.25',
    'barograph_node_leads 0',
  ])
  t.notMatch(await startMetrics(t).scrape(), /barograph_node/)
})
