/** Runs the role `forward`: sends the topics to QuestDB or stands by, and listens only for probes and Prometheus. */

import { Gauge, type Registry } from 'prom-client'
import { createTokenCheck } from '../api/admin/admin-token.ts'
import { createMetrics } from '../api/http/metrics.ts'
import { createServer } from '../api/http/server.ts'
import { type Readiness, serverFamily } from '../api/http/server-family.ts'
import { readSeriesPairs } from '../auth/metrics/metrics.ts'
import type { ForwardStatus } from '../ingest/kafka/state/forward-status.ts'
import { readCertificate } from '../store/certificate.ts'
import { openDataDirectory } from '../store/data-directory.ts'
import { createNetworks } from '../store/limits/networks.ts'
import { checkListenAddress, listenError } from '../store/listen-address.ts'
import { type QuestdbReplica, replicaPrefix } from '../store/questdb/questdb-replicas.ts'
import { openStore, type Store } from '../store/store.ts'
import { openConnections } from './open-connections.ts'
import { type NumberedForwarder, openTopics, startForwarders } from './open-topics.ts'
import type { ServiceOptions } from './service.ts'
import { type Service, startParts } from './start-parts.ts'

export function startForwarderService(options: ServiceOptions): Promise<Service> {
  return startParts(onOpen => open(options, onOpen))
}

async function open(options: ServiceOptions, onOpen: (close: () => unknown) => void): Promise<string> {
  const { config, log, signal, onFatal } = options
  const directory = openDataDirectory(config.DATA_DIR)
  onOpen(() => directory.close())
  readCertificate(config)
  await checkListenAddress(config)
  const store = await openStore({
    directory,
    questdbHttp: config.QUESTDB_HTTP,
    questdbPg: config.QUESTDB_PG,
    leavesHourlyView: true,
    databaseUrl: config.DATABASE_URL,
    migratesAlone: true,
    cacheDirectory: config.cacheDirectory,
    environment: config.environment,
    signal,
    log,
  })
  onOpen(() => store.close())
  const given = { config, directory, store, log, onFatal }
  const topics = await openTopics(given)
  onOpen(() => topics.close())
  const { questdb, postgres } = store
  const forwarders = startForwarders(given, topics, { questdb, seriesPairs: () => readSeriesPairs(postgres) })
  onOpen(() => Promise.all(forwarders.map(forwarder => forwarder.close())))
  const replicas = [{ number: 1, questdb }, ...topics.customReplicas]
  return await listen(options, directory.secret('admin-token'), { store, replicas, forwarders }, onOpen)
}

interface ForwarderParts {
  store: Store
  replicas: readonly QuestdbReplica[]
  forwarders: readonly Pick<NumberedForwarder, 'number' | 'status'>[]
}

async function listen(
  { config, log }: ServiceOptions,
  adminToken: string,
  parts: ForwarderParts,
  onOpen: (close: () => unknown) => void,
): Promise<string> {
  let isStopping = false
  const isTrusted = createNetworks(config.TRUST_PROXY ?? [])
  const isToken = createTokenCheck(adminToken)
  const metrics = createMetrics({ isAdmin: async ({ rawHeaders }) => isToken(rawHeaders), isTrusted })
  addForwarders(metrics.registry, parts.forwarders)
  const readiness = () => readinessOf(parts, isStopping)
  const families = [serverFamily({ readiness, metrics })]
  const connections = openConnections(config, log, isTrusted)
  const app = createServer({ config, connections, measure: metrics.measure, families, log })
  onOpen(async () => {
    isStopping = true
    await app.close()
  })
  try {
    return await app.listen({ host: config.HOST, port: config.PORT })
  } catch (error) {
    throw listenError(config, error)
  }
}

function readinessOf({ store, replicas, forwarders }: ForwarderParts, isStopping: boolean): Readiness {
  if (isStopping) return { status: 'unavailable', reasons: ['the service is stopping'] }
  const postgresFault = store.postgresFault()
  const faults = replicas.map(replica => {
    const forwarder = forwarders.find(({ number }) => number === replica.number)
    const found = [...(forwarder?.status() ?? []).flatMap(issuesOf), ...questdbFault(replica.questdb)]
    return found.map(fault => `${replicaPrefix(replicas, replica)}${fault}`)
  })
  const reasons = faults.flat()
  if (postgresFault !== undefined) reasons.push(postgresFault)
  return reasons.length === 0 ? { status: 'ok' } : { status: 'degraded', reasons }
}

function issuesOf({ topic, status: { forwarder, spool } }: { topic: string; status: ForwardStatus }): string[] {
  const issues = [forwarder.issue, forwarder.fileIssue, spool?.issue].filter(issue => issue !== undefined)
  return issues.map(issue => `${topic}: ${issue}`)
}

function questdbFault(questdb: Store['questdb']): string[] {
  const { state, reason } = questdb.state()
  return state === 'up' ? [] : [reason ?? `QuestDB is ${state}`]
}

/** Metrics of a forwarding process, read at each scrape. */
function addForwarders(registry: Registry, forwarders: readonly Pick<NumberedForwarder, 'number' | 'status'>[]): void {
  new Gauge({
    name: 'barograph_forwarder_held',
    help: '1 while this process forwards to the replica, 0 while it stands by.',
    labelNames: ['replica'],
    registers: [registry],
    collect() {
      for (const { number, status } of forwarders) this.set({ replica: number }, status() === undefined ? 0 : 1)
    },
  })
  const add = (name: string, help: string, value: (status: ForwardStatus) => number) => {
    new Gauge({
      name: `barograph_forwarder_${name}`,
      help: `${help} None while it stands by.`,
      labelNames: ['replica', 'topic'],
      registers: [registry],
      collect() {
        this.reset()
        for (const { number, status } of forwarders) {
          for (const each of status() ?? []) this.set({ replica: number, topic: each.topic }, value(each.status))
        }
      },
    })
  }
  add('applied_offset', 'Offset before which QuestDB shows everything.', ({ applied }) => applied)
  add('fetched_offset', 'Offset of the next record to be fetched.', ({ applied, spool }) => spool?.next ?? applied)
  add('rows', 'Rows that QuestDB has taken.', ({ forwarder }) => forwarder.rows)
  add('table_suspended', '1 while QuestDB has suspended the table.', ({ forwarder }) => (forwarder.suspended ? 1 : 0))
  add('damaged_groups', 'Records of the topic that are not groups of rows.', ({ spool }) => spool?.damagedGroups ?? 0)
  add(
    'lost_groups',
    'Records that the topic removed before they were forwarded.',
    ({ spool }) => spool?.lostGroups ?? 0,
  )
}
