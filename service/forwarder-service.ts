/**
 * A process with the role `forward`: takes the topics of the shards that it gets to QuestDB, and stands by for those that other
 * processes have. It listens for probes and for Prometheus alone.
 */

import { createTokenCheck } from '../api/admin/admin-token.ts'
import { readCertificate } from '../api/http/certificate.ts'
import type { Readiness } from '../api/http/health.ts'
import { createMetrics } from '../api/http/metrics.ts'
import { createNetworks } from '../api/http/networks.ts'
import { createServer } from '../api/http/server.ts'
import { serverFamily } from '../api/http/server-family.ts'
import { readSeriesPairs } from '../auth/metrics/metrics.ts'
import type { ForwardStatus } from '../ingest/kafka/forward-status.ts'
import { checkListenAddress, listenError } from '../settings/listen-address.ts'
import { openDataDirectory } from '../store/data-directory.ts'
import { openStore, type Store } from '../store/store.ts'
import { addForwarders } from './forwarder-metrics.ts'
import { openConnections } from './open-connections.ts'
import { type ForwardedShard, forwardShards, openShards, type ShardQuestdb } from './open-shards.ts'
import type { ServiceOptions } from './service.ts'
import { type Service, startParts } from './start-parts.ts'
import { type PlacementWatch, watchPlacement } from './watch-placement.ts'

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
  const opened = await openShards(given)
  onOpen(() => opened.close())
  const shardCount = opened.shards.length
  const placement = await watchPlacement({ ...given, postgres: store.postgres, shardCount })
  onOpen(() => placement.close())
  const forwarders = forwardShards(given, opened, store.questdb, () => readSeriesPairs(store.postgres))
  onOpen(() => Promise.all(forwarders.map(forwarder => forwarder.close())))
  const { furtherQuestdbs } = opened
  return await listen(
    options,
    directory.secret('admin-token'),
    { store, furtherQuestdbs, placement, forwarders },
    onOpen,
  )
}

interface ForwarderParts {
  store: Store
  furtherQuestdbs: readonly ShardQuestdb[]
  placement: Pick<PlacementWatch, 'issue'>
  forwarders: readonly ForwardedShard[]
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

function readinessOf(
  { store, furtherQuestdbs, placement, forwarders }: ForwarderParts,
  isStopping: boolean,
): Readiness {
  if (isStopping) return { status: 'unavailable', reasons: ['the service is stopping'] }
  const reasons = forwarders.flatMap(({ status }) => (status() ?? []).flatMap(issuesOf))
  reasons.push(...questdbFault(store.questdb))
  for (const { number, questdb } of furtherQuestdbs) {
    reasons.push(...questdbFault(questdb).map(fault => `shard ${number}: ${fault}`))
  }
  const faults = [store.postgresFault(), placement.issue()]
  reasons.push(...faults.filter(fault => fault !== undefined))
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
