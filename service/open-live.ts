/** Opens the live state of the fleet, which the registry, the readings and QuestDB feed. */

import type { Devices } from '../auth/devices/devices.ts'
import { createShownMetrics } from '../auth/metrics/device-metrics.ts'
import type { Metrics } from '../auth/metrics/metrics.ts'
import type { Ingest } from '../ingest/ingest.ts'
import { createLive, type Live, type LiveOptions } from '../query/live/live.ts'
import type { LiveMetric, LiveMetricsOf } from '../query/live/live-rows.ts'
import type { Query } from '../query/query.ts'
import type { Log } from '../store/log.ts'
import { descriptionOf } from '../store/metrics/metric.ts'
import { appliedMark } from './applied-mark.ts'
import type { Clock } from './clock.ts'
import type { ServiceReplica } from './replicas.ts'
import type { Config } from './settings/config.ts'

interface LiveParts {
  replicas: readonly Pick<ServiceReplica, 'questdb'>[]
  ingest: Pick<Ingest, 'onStored' | 'onLost' | 'status' | 'shared'>
  devices: Pick<Devices, 'all' | 'byNumber' | 'onChange' | 'received'>
  metrics: Metrics
  query: Pick<Query, 'fleetRows' | 'hourSources' | 'deviceRemoved'>
  clockMs: Clock
}

const checkEveryMs = 1000

/** Call it before the first reading is accepted. */
export function openServiceLive(config: Config, log: Log, parts: LiveParts): Live {
  const { replicas, ingest, devices, metrics, query, clockMs } = parts
  const { shared } = ingest
  /** Rows accepted before the listener was added: QuestDB has to apply them before the live state loads. */
  let isApplied = appliedMark(ingest)
  const isUnapplied = () => !isApplied()
  const ordinals = () => {
    const { journal, forwarder } = ingest.status()
    return { taken: journal.ordinal, applied: forwarder.appliedOrdinal }
  }
  const live = createLive({
    ask: receivedFleetRows(query.fleetRows, shared),
    hourSources: query.hourSources,
    nowMs: clockMs,
    receivedUntilMs: shared && (() => clockMs() - shared.unreadSeconds() * 1000),
    isCatchingUp: () => isUnapplied() || (shared?.unreadSeconds() ?? 0) > 0,
    ordinals,
    metricsOf: createLiveMetrics(metrics, devices),
    log,
    aheadMs: config.TIMESTAMP_AHEAD_SECONDS * 1000,
  })
  live.fill(devices.all())
  devices.onChange((device, isRemoved) => {
    if (isRemoved) {
      live.deviceRemoved(device.number)
      query.deviceRemoved()
    } else live.deviceChanged(device)
  })
  ingest.onStored(live.take, missed)
  ingest.onLost(missed)
  // Includes readings of other nodes.
  if (shared !== undefined) ingest.onStored(devices.received)
  let timer: NodeJS.Timeout | undefined

  function missed(): void {
    isApplied = appliedMark(ingest)
    loadBehind()
  }

  /** Loads now, and again when all is applied. */
  function loadBehind(): void {
    live.load()
    clearInterval(timer)
    if (!isUnapplied()) return
    timer = setInterval(() => {
      if (isUnapplied()) return
      clearInterval(timer)
      live.load()
    }, checkEveryMs).unref()
  }

  for (const { questdb } of replicas) questdb.ready.then(loadBehind, () => undefined)
  return {
    ...live,
    async close() {
      clearInterval(timer)
      await live.close()
    },
  }
}

/** Delays QuestDB's rows until the live state has received their readings, which would count twice otherwise. */
function receivedFleetRows(ask: LiveOptions['ask'], shared: LiveParts['ingest']['shared']): LiveOptions['ask'] {
  if (shared === undefined) return ask
  return async (name, query, signal) => {
    const rows = await ask(name, query, signal)
    if (!rows.ok) return rows
    try {
      await shared.untilNotified(signal)
      return rows
    } catch {
      // The caller retries.
      return { ok: false, code: 'JOURNAL_AWAY' }
    }
  }
}

/** Adapts the registries to the live state's metrics of devices. */
function createLiveMetrics(metrics: Metrics, devices: Pick<Devices, 'byNumber'>): LiveMetricsOf {
  const shownOf = createShownMetrics(metrics)
  return number => {
    const device = devices.byNumber(number)
    return device === undefined
      ? []
      : shownOf(device).map((metric): LiveMetric => {
          return { name: metric.name, description: descriptionOf(metric), series: metrics.series(number, metric) }
        })
  }
}
