/** Shares the limits, meters and checks of readings between all protocols. */

import type { Registry } from 'prom-client'
import { createMetrics, type Metrics } from '../api/http/metrics.ts'
import { createAcceptOnce } from '../api/write/accept-once.ts'
import { type BulkMeter, createBulkMeter } from '../api/write/bulk-meter.ts'
import { type AuthRateLimit, createAuthRateLimit } from '../auth/auth-rate-limit.ts'
import type { Devices } from '../auth/devices/devices.ts'
import type { Metrics as MetricRegistry } from '../auth/metrics/metrics.ts'
import { createWriters, type Writers } from '../auth/writers.ts'
import { createRecentMessages, type RecentMessages } from '../ingest/decoders/recent-messages.ts'
import type { Claims } from '../ingest/idempotency/claims.ts'
import { createBulkJournal } from '../ingest/import/bulk-journal.ts'
import type { Ingest } from '../ingest/ingest.ts'
import { createDeviceRate } from '../ingest/intake/device-rate.ts'
import { createFairShare, type FairShare } from '../ingest/intake/fair-share.ts'
import { createIntake, type Intake, type IntakeOptions } from '../ingest/intake/intake.ts'
import { createIntervalMeter, type IntervalMeter } from '../ingest/intake/interval-meter.ts'
import { createReadingMeter, type ReadingMeter } from '../ingest/intake/reading-meter.ts'
import { createBrokerRate } from '../ingest/mqtt/broker-rate.ts'
import { createReadingCheck } from '../ingest/reading.ts'
import { createRejections, type Rejections } from '../ingest/rejections/rejections.ts'
import { createSenderLog, type SenderLog } from '../ingest/rejections/sender-log.ts'
import type { EventMeter } from '../query/live/events/event-meter.ts'
import type { Connections } from '../store/limits/connections.ts'
import { createNetworks } from '../store/limits/networks.ts'
import { type ProcessCount, sharedRate } from '../store/limits/shared-rate.ts'
import type { Log } from '../store/log.ts'
import { counter, gauge } from '../store/metric-kinds.ts'
import { checkOptionsOf } from './check-options.ts'
import type { Clock } from './clock.ts'
import type { AcceptedFrom } from './lifecycle/retention/horizon.ts'
import type { ServiceAccounts } from './open-accounts.ts'
import { openConnections } from './open-connections.ts'
import type { ServiceNodes } from './open-nodes.ts'
import type { Config } from './settings/config.ts'

export interface Ingress extends Meters, Pick<SenderRates, 'fairShare' | 'authRateLimit'> {
  isTrusted: (address: string) => boolean
  connections: Connections
  metrics: Metrics
  writers: Writers
  intake: Intake
  /** Messages of sensors in formats of their own. */
  recent: RecentMessages
  /** Takes readings of the external MQTT broker. */
  brokerIntake: Intake
}

interface IngressParts {
  clockMs: Clock
  ingest: Ingest
  devices: Devices
  metrics: MetricRegistry
  accounts: Pick<ServiceAccounts, 'isAdministrator'>
  claims: Claims
  acceptedFrom: AcceptedFrom
  nodes: Pick<ServiceNodes, 'count'>
}

export function createIngress(config: Config, log: Log, parts: IngressParts): Ingress {
  const { clockMs, ingest, devices, accounts } = parts
  const isTrusted = createNetworks(config.TRUST_PROXY ?? [])
  const metrics = createMetrics({ isAdmin: accounts.isAdministrator, isTrusted })
  const meters = createMeters(metrics.registry, log, clockMs)
  const { DEVICES_PER_OWNER: user, DEVICES_PER_ADMINISTRATOR: administrator } = config
  const writers = createWriters(devices, { user, administrator, operator: administrator })
  const rates = createSenderRates({
    config,
    nowMs: clockMs,
    ingest,
    brokerId: writers.ofTrustedBroker().id,
    processes: parts.nodes.count,
  })
  const intakeOptions: IntakeOptions = {
    devices,
    ingest,
    meter: meters.meter,
    nowMs: clockMs,
    check: createReadingCheck({ ...checkOptionsOf(config, parts), collectsCustom: true }),
    metrics: parts.metrics,
    isWithinRate: rates.isWithinRate,
    acceptOnce: createAcceptOnce({ ...parts, earliestMs: parts.acceptedFrom.ms }),
  }
  return {
    isTrusted,
    metrics,
    ...meters,
    writers,
    recent: createRecentMessages(clockMs),
    fairShare: rates.fairShare,
    connections: openConnections(config, log, isTrusted),
    intake: createIntake(intakeOptions),
    brokerIntake: createIntake({ ...intakeOptions, isWithinRate: rates.isWithinBrokerRate }),
    authRateLimit: rates.authRateLimit,
  }
}

type IsWithinRate = IntakeOptions['isWithinRate']

interface SenderRates {
  /** For bodies of many readings in any format. */
  fairShare: FairShare
  /** Shared by all protocols, so that guessers do not get separate attempts for each. */
  authRateLimit: AuthRateLimit
  /** For single readings. */
  isWithinRate: IsWithinRate
  isWithinBrokerRate: IsWithinRate
}

interface SenderRatesOptions {
  config: Config
  nowMs: Clock
  ingest: Ingest
  /** Writer id of the external broker. */
  brokerId: string
  /** Processes share the limits of a sender. */
  processes: ProcessCount
}

function createSenderRates({ config, nowMs, ingest, brokerId, processes }: SenderRatesOptions): SenderRates {
  const { BULK_RATE, BULK_BURST, DEVICE_RATE, DEVICE_BURST, FAILED_ATTEMPTS } = config
  const fairShare = createFairShare(sharedRate({ perSecond: BULK_RATE, burst: BULK_BURST }, processes), nowMs)
  const isWithinRate = createDeviceRate(sharedRate({ perSecond: DEVICE_RATE, burst: DEVICE_BURST }, processes), nowMs)
  const { hasRoom } = createBulkJournal(ingest)
  return {
    fairShare,
    authRateLimit: createAuthRateLimit(FAILED_ATTEMPTS, nowMs, processes),
    isWithinRate,
    isWithinBrokerRate: createBrokerRate({ isWithinRate, fairShare, hasRoom, writerId: brokerId }),
  }
}

interface Meters {
  meter: ReadingMeter
  bulkMeter: BulkMeter
  eventMeter: EventMeter
  interval: IntervalMeter
  rejections: Rejections
  senderLog: SenderLog
}

function createMeters(registry: Registry, log: Log, nowMs: Clock): Meters {
  const interval = createIntervalMeter()
  const senderLog = createSenderLog(log, () => performance.now())
  const rejections = createRejections({ nowMs, senderLog })
  return {
    meter: createReadingMeter(registry, interval, rejections),
    bulkMeter: createBulkMeter(registry, interval, rejections),
    eventMeter: createEventMeter(registry),
    interval,
    rejections,
    senderLog,
  }
}

/** Metrics of `GET /api/events`: connected clients, events sent, clients disconnected. */
export function createEventMeter(registry: Registry): EventMeter {
  let [clients, sent, dropped] = [0, 0, 0]
  gauge(registry, 'barograph_event_clients', 'Clients of GET /api/events that are connected.', () => clients)
  counter(registry, 'barograph_events_sent_total', 'Events sent, once for each client that got one.', () => sent)
  const cut = 'Clients of GET /api/events that were disconnected because they took nothing.'
  counter(registry, 'barograph_event_clients_dropped_total', cut, () => dropped)
  return {
    clients(count) {
      clients = count
    },
    sent(events) {
      sent += events
    },
    dropped() {
      dropped++
    },
  }
}
