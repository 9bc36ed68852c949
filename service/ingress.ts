/** What all ways in of readings share: limits, metrics, and the check that every reading passes. */

import { type AuthRateLimit, createAuthRateLimit } from '../api/http/auth-rate-limit.ts'
import type { Connections } from '../api/http/connections.ts'
import { createMetrics, type Metrics } from '../api/http/metrics.ts'
import { createNetworks } from '../api/http/networks.ts'
import { createAcceptOnce } from '../api/write/accept-once.ts'
import { createDeviceRate } from '../api/write/device-rate.ts'
import { createFairShare, type FairShare } from '../api/write/fair-share.ts'
import { createIntake, type Intake, type IntakeOptions } from '../api/write/intake.ts'
import { createBrokerRate } from '../api/write/mqtt/broker-rate.ts'
import type { Devices } from '../auth/devices/devices.ts'
import { createWriters, type Writers } from '../auth/writers.ts'
import type { Claims } from '../ingest/idempotency/claims.ts'
import { createBulkJournal } from '../ingest/import/bulk-journal.ts'
import type { Ingest } from '../ingest/ingest.ts'
import { createReadingCheck } from '../ingest/reading.ts'
import type { AcceptedFrom } from '../lifecycle/retention/accepted-from.ts'
import type { Config } from '../settings/config.ts'
import type { Log } from '../store/log.ts'
import { checkOptionsOf } from './check-options.ts'
import type { Clock } from './clock.ts'
import { createMeters, type Meters } from './meters.ts'
import type { ServiceAccounts } from './open-accounts.ts'
import { openConnections } from './open-connections.ts'

export interface Ingress extends Meters {
  isTrusted: (address: string) => boolean
  connections: Connections
  metrics: Metrics
  /** Of bodies of many readings, in whichever format. */
  fairShare: FairShare
  writers: Writers
  intake: Intake
  /** Of readings from the outside MQTT broker. */
  brokerIntake: Intake
  /** One for all ways in: who guesses does not get as many attempts for each. */
  authRateLimit: AuthRateLimit
}

export interface IngressParts {
  clockMs: Clock
  ingest: Ingest
  devices: Devices
  accounts: Pick<ServiceAccounts, 'isAdministrator'>
  claims: Claims
  acceptedFrom: AcceptedFrom
}

export function createIngress(config: Config, log: Log, parts: IngressParts): Ingress {
  const { clockMs, ingest, devices, accounts } = parts
  const isTrusted = createNetworks(config.TRUST_PROXY ?? [])
  const metrics = createMetrics({ isAdmin: accounts.isAdministrator, isTrusted })
  const meters = createMeters(metrics.registry, log, clockMs)
  const { DEVICES_PER_OWNER: user, DEVICES_PER_ADMINISTRATOR: administrator } = config
  const writers = createWriters(devices, { user, administrator, operator: administrator })
  const fairShare = createFairShare({ perSecond: config.BULK_RATE, burst: config.BULK_BURST }, clockMs)
  const isWithinRate = createDeviceRate({ perSecond: config.DEVICE_RATE, burst: config.DEVICE_BURST }, clockMs)
  const intakeOptions: IntakeOptions = {
    devices,
    ingest,
    meter: meters.meter,
    nowMs: clockMs,
    check: createReadingCheck(checkOptionsOf(config, parts)),
    isWithinRate,
    acceptOnce: createAcceptOnce({ ...parts, earliestMs: parts.acceptedFrom.ms }),
  }
  const { hasRoom } = createBulkJournal(ingest)
  const brokerRate = createBrokerRate({ isWithinRate, fairShare, hasRoom, writerId: writers.ofTrustedBroker().id })
  return {
    isTrusted,
    metrics,
    ...meters,
    writers,
    fairShare,
    connections: openConnections(config, log, isTrusted),
    intake: createIntake(intakeOptions),
    brokerIntake: createIntake({ ...intakeOptions, isWithinRate: brokerRate }),
    authRateLimit: createAuthRateLimit(config.FAILED_ATTEMPTS, clockMs),
  }
}
