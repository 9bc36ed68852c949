/** `GET /metrics`: Prometheus text. What happens for each reading is a plain counter; the rest is asked at each scrape. */

import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { IngestStatus } from '../ingest/ingest.ts'
import { isLocalRequest } from './local-request.ts'
import { refuseOtherMethods } from './other-methods.ts'

/** What the way of a reading reports while it runs. */
export interface IngestMeter {
  /** A reading was acknowledged, so long after its body was there. */
  stored(elapsedMs: number): void
  rejected(reason: string): void
}

export interface Metrics {
  meter: IngestMeter
  register(app: FastifyInstance): void
}

export interface MetricsOptions {
  ingest: () => IngestStatus
  devices: () => number
  questdbUp: () => boolean
  /** Questions that wait for a thread, by pool. */
  questionsWaiting: () => Readonly<Record<string, number>>
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
  addQuestions(registry, options.questionsWaiting)
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

function createRejects(registry: Registry): Counter<'reason'> {
  return new Counter({
    name: 'barograph_readings_rejected_total',
    help: 'Readings that PUT /api/log refused, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  })
}

function addIngest(registry: Registry, ingest: () => IngestStatus): void {
  const total = (name: string, help: string, read: (status: IngestStatus) => number) =>
    counter(registry, `barograph_${name}_total`, help, () => read(ingest()))
  const level = (name: string, help: string, read: (status: IngestStatus) => number) =>
    gauge(registry, `barograph_${name}`, help, () => read(ingest()))
  total('readings_durable', 'Readings synced to the journal, by every way in.', status => status.journal.readings)
  total('journal_groups', 'Syncs of the journal; durable readings by groups is the mean group.', s => s.journal.groups)
  total('readings_forwarded', 'Rows that QuestDB has taken.', status => status.forwarder.rows)
  total('readings_applied', 'Records of the journal that queries show.', status => status.forwarder.appliedOrdinal)
  level('lag_readings', 'Readings on disk that no query shows yet.', status => status.lag.readings)
  level('lag_seconds', 'How long the oldest of them has waited.', status => status.lag.seconds)
  level('journal_bytes', 'Size of the journal.', status => status.journal.bytes)
  level('journal_damaged_bytes', 'Bytes of the journal in quarantine.', status => damagedBytes(status))
  level('dead_letters', 'Readings that QuestDB refused.', status => status.forwarder.deadLetters)
  total('clock_steps', 'How often the clock was set, by more than a second.', status => status.clock.steps)
  level('stamp_ahead_seconds', 'How far the newest stamp lies ahead of the clock.', s => s.clock.aheadSeconds)
  level('table_suspended', '1 while QuestDB has suspended the table.', status => (status.forwarder.suspended ? 1 : 0))
}

function addQuestions(registry: Registry, waiting: MetricsOptions['questionsWaiting']): void {
  new Gauge({
    name: 'barograph_questions_waiting',
    help: 'Questions that wait for a worker thread, by pool.',
    labelNames: ['pool'],
    registers: [registry],
    collect() {
      for (const [pool, count] of Object.entries(waiting())) this.set({ pool }, count)
    },
  })
}

function damagedBytes({ journal, forwarder }: IngestStatus): number {
  return journal.tornBytes + forwarder.damagedBytes
}

function gauge(registry: Registry, name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read())
    },
  })
}

/** A counter whose number is kept elsewhere. */
function counter(registry: Registry, name: string, help: string, read: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset()
      this.inc(read())
    },
  })
}
