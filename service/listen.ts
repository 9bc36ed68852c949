/** Opens the listeners of the service: the HTTP server with its routes, and MQTT. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { createServer } from '../api/http/server.ts'
import type { Account } from '../auth/accounts/account.ts'
import { clockFault } from '../auth/nodes/postgres-clock.ts'
import { advisedFault } from '../auth/nodes/settings-differ.ts'
import { firstBrokerOf, type Mqtt, openMqtt } from '../ingest/mqtt/mqtt.ts'
import { listenError } from '../store/listen-address.ts'
import type { Log } from '../store/log.ts'
import { StartError } from '../store/start-error.ts'
import { packageVersion } from '../store/version.ts'
import { addAlertMetrics } from './alert-metrics.ts'
import { createFamilies, visitsOf } from './families.ts'
import { openHomeAssistant } from './home-assistant/home-assistant.ts'
import { createIngress, type Ingress } from './ingress.ts'
import { databaseFaultOf, readinessOf } from './readiness.ts'
import { questdbRead, replicaFaults } from './replicas.ts'
import { openSelfMonitoring } from './self-monitoring/self-monitoring.ts'
import { addServiceMetrics } from './service-metrics.ts'
import type { Config } from './settings/config.ts'
import type { ServiceParts } from './start-parts.ts'

/** Longer than a load balancer with checks each second takes to detect a node that is not ready. */
const drainMs = 2500

/** Resolves to the listening address. `onOpen` gets the functions that close it. */
export async function listen(
  config: Config,
  log: Log,
  parts: ServiceParts,
  onOpen: (close: () => unknown) => void,
): Promise<string> {
  let isStopping = false
  let mqtt: Mqtt | undefined
  const ingress = createIngress(config, log, parts)
  const selfMonitoring = openSelfMonitoring({
    questdbs: parts.replicas.map(({ questdb }) => questdb),
    ingest: parts.ingest.status,
    interval: ingress.interval,
    nowMs: parts.clockMs,
    node: parts.nodes.several?.own().host,
  })
  onOpen(() => selfMonitoring.close())
  const app = createServiceServer(config, log, parts, ingress, {
    isStopping: () => isStopping,
    broker: () => mqtt?.brokerFault(),
  })
  onOpen(async () => {
    isStopping = true
    if (parts.nodes.several !== undefined) {
      ingress.connections.drain()
      await sleep(drainMs)
    }
    await Promise.all([mqtt?.close(), app.close()])
  })
  await app.ready()
  // Memory follows changes of other nodes from now on. The time between the first lease and its renewal has to be
  // short.
  await parts.nodes.join()
  try {
    const url = await app.listen({ host: config.HOST, port: config.PORT })
    mqtt = await openServiceMqtt(config, log, parts, ingress)
    openServiceHomeAssistant(config, log, parts, onOpen)
    return url
  } catch (error) {
    throw listenError(config, error)
  }
}

async function openServiceMqtt(
  config: Config,
  log: Log,
  { devices, decoders, accounts, nodes }: ServiceParts,
  ingress: Ingress,
): Promise<Mqtt> {
  const { writers, intake, brokerIntake, meter, authRateLimit, connections, metrics, senderLog, recent } = ingress
  return await openMqtt({
    settings: config,
    log,
    devices,
    decoders,
    recent,
    writers,
    intake,
    brokerIntake,
    meter,
    authRateLimit,
    connections,
    senderLog,
    sessionNotices: nodes.several?.sessions,
    keys: accounts.keys,
    registry: metrics.registry,
    leads: nodes.leads,
    findOwner: await findOwnerOf(config, accounts),
  })
}

function openServiceHomeAssistant(
  config: Config,
  log: Log,
  { devices, metrics, live, ingest, nodes }: ServiceParts,
  onOpen: (close: () => unknown) => void,
): void {
  const address = config.HOME_ASSISTANT_DISCOVERY === 'on' ? firstBrokerOf(config) : undefined
  if (address === undefined) return
  const publicUrl = config.PUBLIC_URL?.replace(/\/$/, '')
  const shared = { devices, metrics, live, ingest, leads: nodes.leads, publicUrl, log }
  const homeAssistant = openHomeAssistant({ address, ...shared })
  onOpen(homeAssistant.close)
}

/** Throws a `StartError` where there is no such account. */
async function findOwnerOf(
  { DECODERS_CREATE_DEVICES: email }: Config,
  { accounts }: ServiceParts['accounts'],
): Promise<(() => Promise<Account | undefined>) | undefined> {
  if (email === undefined) return undefined
  const owner = await accounts.findByEmail(email)
  if (owner === undefined) throw new StartError('DECODERS_CREATE_DEVICES is not the address of an account.')
  return () => accounts.find(owner.id)
}

function createServiceServer(
  config: Config,
  log: Log,
  parts: ServiceParts,
  ingress: Ingress,
  state: { isStopping: () => boolean; broker: () => string | undefined },
): FastifyInstance {
  const { store, replicas, readReplicas, ingest, pointsIngest, devices, query } = parts
  const { connections, metrics } = ingress
  const databases = {
    questdb: () => questdbRead(replicas, readReplicas),
    postgres: () => store.postgresFault(),
    reads: () => loadingOf(parts),
  }
  const readiness = () =>
    readinessOf({
      ...databases,
      ingest: ingest.status,
      points: pointsIngest.status,
      node: parts.nodes.fault,
      connections: connections.fault,
      topics: parts.topicStates,
      replicas: () => replicaFaults(replicas, readReplicas),
      clock: () => clockFault(parts.nodes.several?.own().clockAheadMs),
      settings: () => advisedFault(parts.nodes.several?.own().differing ?? []),
      ...state,
    })
  const families = createFamilies({ config, log, parts, ingress, readiness })
  addServiceMetrics(metrics.registry, {
    ingest: ingest.status,
    points: pointsIngest.status,
    devices: () => devices.size(),
    questdbs: replicas.map(({ number, questdb }) => ({ number, isUp: () => questdb.state().state === 'up' })),
    queriesQueued: query.queueLengths,
    cache: query.cacheStatus,
    states: () => (parts.live.isLoaded() ? parts.live.counts() : undefined),
    topics: parts.topicStates,
    nodes: parts.nodes,
    disk: parts.diskUse.read,
    retention: parts.retention.state,
    version: packageVersion(),
  })
  addAlertMetrics(metrics.registry, parts.alerts)
  return createServer({
    config,
    connections,
    measure: metrics.measure,
    families,
    databaseFault: () => databaseFaultOf(databases),
    log,
    ...visitsOf(parts),
  })
}

/** Reason why reads of the contract wait after a start, once QuestDB is up. */
function loadingOf({
  live,
  retention,
  replicas,
}: Pick<ServiceParts, 'live' | 'retention' | 'replicas'>): string | undefined {
  if (!replicas.some(({ number }) => retention.isKnown(number))) return 'expired days are being read'
  return live.isLoaded() ? undefined : 'the state of the fleet is being loaded'
}
