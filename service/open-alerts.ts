/** Opens alerts: readings, registries and the live state feed them, accounts decide who receives them. */

import { type Alerts, openAlerts } from '../alerts/alerts.ts'
import type { Devices } from '../auth/devices/devices.ts'
import type { Metrics } from '../auth/metrics/metrics.ts'
import type { Ingest, PointsIngest } from '../ingest/ingest.ts'
import { createAlertReadings } from '../query/alerts/alert-readings.ts'
import type { Insights } from '../query/insights.ts'
import type { Live } from '../query/live/live.ts'
import type { Query } from '../query/query.ts'
import type { Replicas } from '../query/replicas.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import { signOf } from '../store/metrics/units.ts'
import type { Store } from '../store/store.ts'
import { alertDelivery } from './alert-delivery.ts'
import { createAlertDevices } from './alert-devices.ts'
import {
  type AlertFactsOptions,
  createAlertFacts,
  createBatteryDays,
  createUnusualShifts,
} from './alert-observations.ts'
import { appliedMark } from './applied-mark.ts'
import type { Clock } from './clock.ts'
import type { DiskUse } from './lifecycle/disk/disk-use.ts'
import type { ServiceAccounts } from './open-accounts.ts'
import type { ServiceNodes } from './open-nodes.ts'
import { questdbRead, type ServiceReplica } from './replicas.ts'
import { faultOf, noteSetAside } from './set-aside.ts'
import type { Config } from './settings/config.ts'

interface AlertParts {
  store: Pick<Store, 'postgres'>
  replicas: readonly ServiceReplica[]
  readReplicas: Replicas
  directory: Pick<DataDirectory, 'secret'>
  ingest: Ingest
  pointsIngest: PointsIngest
  topicStates: AlertFactsOptions['topicStates']
  devices: Devices
  metrics: Metrics
  accounts: ServiceAccounts
  live: Live
  insights: Pick<Insights, 'of'>
  query: Pick<Query, 'unusual'>
  diskUse: DiskUse
  nodes: Pick<ServiceNodes, 'feed' | 'leads' | 'requireLead'>
  clockMs: Clock
}

/** Call it before the first reading is accepted. */
export function openServiceAlerts(config: Config, log: Log, parts: AlertParts): Alerts {
  const { store, replicas, ingest, metrics, accounts, live, nodes, clockMs } = parts
  const { devices, learnOwner } = createAlertDevices({ ...parts, accounts: accounts.accounts })
  const readings = createAlertReadings({
    replicas: parts.readReplicas,
    timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000,
    log,
  })
  const alerts = openAlerts({
    pool: store.postgres,
    log,
    nowMs: clockMs,
    timeZone: config.TIME_ZONE,
    publicUrl: accounts.publicUrl,
    feed: nodes.feed,
    leads: nodes.leads,
    requireLead: nodes.requireLead,
    noteSetAside: (rule, error) => {
      const work = { kind: 'rule', id: String(rule), fault: faultOf(error.cause ?? error), atMs: clockMs() } as const
      return noteSetAside(store.postgres, work)
    },
    devices,
    learnOwner,
    live,
    onStored: ingest.onStored,
    isOut: () => ingest.status().journal.issue !== undefined || (ingest.shared?.unreadSeconds() ?? 0) > 0,
    isSettled: () =>
      questdbRead(replicas, parts.readReplicas).state === 'up' && live.isLoaded() && !live.isCatchingUp(),
    markTaken: () => appliedMark(ingest),
    readings: readings.read,
    batteryDays: createBatteryDays(parts.insights, parts.devices),
    unusualShifts: createUnusualShifts(parts.query, parts.devices, metrics),
    facts: createAlertFacts({ ...parts, nowMs: clockMs }),
    unitOf(name) {
      const unit = metrics.get(name)?.unit ?? null
      return unit === null ? null : signOf(unit)
    },
    deliver: alertDelivery(config, log, parts),
    removeMails: accounts.removeMails,
    pairsPerOwner: config.ALERT_PAIRS_PER_OWNER,
  })
  return {
    ...alerts,
    async close() {
      await alerts.close()
      await readings.close()
    },
  }
}
