/** Shares the limits, metrics and checks of readings between all protocols. */

import { createMetrics, type Metrics } from '../api/http/metrics.ts'
import { createAcceptOnce } from '../api/write/accept-once.ts'
import type { Devices } from '../auth/devices/devices.ts'
import type { Metrics as MetricRegistry } from '../auth/metrics/metrics.ts'
import { createWriters, type Writers } from '../auth/writers.ts'
import { createRecentMessages, type RecentMessages } from '../ingest/decoders/recent-messages.ts'
import type { Claims } from '../ingest/idempotency/claims.ts'
import type { Ingest } from '../ingest/ingest.ts'
import { createIntake, type Intake, type IntakeOptions } from '../ingest/intake/intake.ts'
import { createReadingCheck } from '../ingest/reading.ts'
import type { Connections } from '../store/limits/connections.ts'
import { createNetworks } from '../store/limits/networks.ts'
import type { Log } from '../store/log.ts'
import { checkOptionsOf } from './check-options.ts'
import type { Clock } from './clock.ts'
import type { AcceptedFrom } from './lifecycle/retention/horizon.ts'
import { createMeters, type Meters } from './meters.ts'
import type { ServiceAccounts } from './open-accounts.ts'
import { openConnections } from './open-connections.ts'
import type { ServiceNodes } from './open-nodes.ts'
import { createSenderRates, type SenderRates } from './sender-rates.ts'
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

export interface IngressParts {
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
