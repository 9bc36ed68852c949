/**
 * A process with the role `forward`: takes the topics of its shard to QuestDB, or stands by while another process does. It listens
 * for probes and for Prometheus alone.
 */

import { createTokenCheck } from '../api/admin/admin-token.ts'
import { readCertificate } from '../api/http/certificate.ts'
import type { Readiness } from '../api/http/health.ts'
import { createMetrics } from '../api/http/metrics.ts'
import { createNetworks } from '../api/http/networks.ts'
import { createServer } from '../api/http/server.ts'
import { serverFamily } from '../api/http/server-family.ts'
import { readSeriesPairs } from '../auth/metrics/metrics.ts'
import type { ShardForwarder } from '../ingest/kafka/shard-forwarder.ts'
import { checkListenAddress, listenError } from '../settings/listen-address.ts'
import { openDataDirectory } from '../store/data-directory.ts'
import { openStore, type Store } from '../store/store.ts'
import { addForwarder } from './forwarder-metrics.ts'
import { openConnections } from './open-connections.ts'
import { openShard, shardForwarder } from './open-shard.ts'
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
    cacheDirectory: config.cacheDirectory,
    environment: config.environment,
    signal,
    log,
  })
  onOpen(() => store.close())
  const given = { config, directory, store, log, onFatal }
  const shard = await openShard(given)
  onOpen(() => shard.close())
  const forwarder = shardForwarder(given, shard, store.questdb, () => readSeriesPairs(store.postgres))
  onOpen(() => forwarder.close())
  return await listen(options, directory.secret('admin-token'), store, forwarder, onOpen)
}

async function listen(
  { config, log }: ServiceOptions,
  adminToken: string,
  store: Store,
  forwarder: ShardForwarder,
  onOpen: (close: () => unknown) => void,
): Promise<string> {
  let isStopping = false
  const isTrusted = createNetworks(config.TRUST_PROXY ?? [])
  const isToken = createTokenCheck(adminToken)
  const metrics = createMetrics({ isAdmin: async ({ rawHeaders }) => isToken(rawHeaders), isTrusted })
  addForwarder(metrics.registry, forwarder.status)
  const readiness = () => readinessOf(store, forwarder, isStopping)
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

function readinessOf(store: Store, forwarder: ShardForwarder, isStopping: boolean): Readiness {
  if (isStopping) return { status: 'unavailable', reasons: ['the service is stopping'] }
  const { state, reason } = store.questdb.state()
  const reasons = (forwarder.status() ?? []).flatMap(({ topic, status: { forwarder: told, spool } }) => {
    const issues = [told.issue, told.fileIssue, spool?.issue].filter(issue => issue !== undefined)
    return issues.map(issue => `${topic}: ${issue}`)
  })
  if (state !== 'up') reasons.push(reason ?? `QuestDB is ${state}`)
  const postgres = store.postgresFault()
  if (postgres !== undefined) reasons.push(postgres)
  return reasons.length === 0 ? { status: 'ok' } : { status: 'degraded', reasons }
}
