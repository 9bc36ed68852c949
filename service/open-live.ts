/** Opens the live state of the fleet: the registry, the readings and QuestDB tell it what happens. */

import type { Devices } from '../auth/devices/devices.ts'
import type { Metrics } from '../auth/metrics/metrics.ts'
import type { Ingest } from '../ingest/ingest.ts'
import { createLive, type Live } from '../live/live.ts'
import type { Query } from '../query/query.ts'
import type { Config } from '../settings/config.ts'
import type { Log } from '../store/log.ts'
import type { Store } from '../store/store.ts'
import type { Clock } from './clock.ts'
import { createLiveMetrics } from './live-metrics.ts'

interface LiveParts {
  store: Pick<Store, 'questdb'>
  ingest: Pick<Ingest, 'onStored' | 'onLost' | 'status'>
  devices: Pick<Devices, 'all' | 'byNumber' | 'onChange'>
  metrics: Metrics
  query: Pick<Query, 'fleetRows' | 'hourSources'>
  clockMs: Clock
}

const checkEveryMs = 1000

/** Before the first reading is taken. */
export function openServiceLive(config: Config, log: Log, parts: LiveParts): Live {
  const { store, ingest, devices, metrics, query, clockMs } = parts
  /** What was taken up to here has to be applied before QuestDB has all readings that the listener was not told. */
  let untoldOrdinal = ingest.status().journal.ordinal
  const isCatchingUp = () => ingest.status().forwarder.appliedOrdinal < untoldOrdinal
  const ordinals = () => {
    const { journal, forwarder } = ingest.status()
    return { taken: journal.ordinal, applied: forwarder.appliedOrdinal }
  }
  const live = createLive({
    ask: query.fleetRows,
    hourSources: query.hourSources,
    nowMs: clockMs,
    isCatchingUp,
    ordinals,
    metricsOf: createLiveMetrics(metrics, devices),
    log,
    aheadMs: config.TIMESTAMP_AHEAD_SECONDS * 1000,
  })
  live.fill(devices.all())
  devices.onChange((device, isRemoved) => {
    if (isRemoved) live.deviceRemoved(device.number)
    else live.deviceChanged(device)
  })
  ingest.onStored(live.take, missed)
  ingest.onLost(missed)
  let timer: NodeJS.Timeout | undefined

  function missed(): void {
    untoldOrdinal = ingest.status().journal.ordinal
    loadBehind()
  }

  /** Now, and when all is applied. */
  function loadBehind(): void {
    live.load()
    clearInterval(timer)
    if (!isCatchingUp()) return
    timer = setInterval(() => {
      if (isCatchingUp()) return
      clearInterval(timer)
      live.load()
    }, checkEveryMs).unref()
  }

  store.questdb.ready.then(loadBehind, () => undefined)
  return {
    ...live,
    async close() {
      clearInterval(timer)
      await live.close()
    },
  }
}
