/** Opens the registries of this process: devices with their names in QuestDB and annotations, stations, and metrics. */

import { type Annotations, createAnnotations } from '../auth/annotations/annotations.ts'
import { type Devices, openDevices } from '../auth/devices/devices.ts'
import { type Metrics, openMetrics } from '../auth/metrics/metrics.ts'
import type { ChangeFeed } from '../auth/nodes/change-feed.ts'
import { openStations, type Stations } from '../auth/stations/stations.ts'
import { type OwnDecoders, openOwnDecoders } from '../ingest/decoders/own-decoders.ts'
import type { Log } from '../store/log.ts'
import type { QuestdbReplica } from '../store/questdb/questdb-replicas.ts'
import type { Store } from '../store/store.ts'
import { rangesOf } from './check-options.ts'
import type { Clock } from './clock.ts'
import { type Names, openNames } from './lifecycle/name-sync/name-sync.ts'
import type { Config } from './settings/config.ts'

export interface Registries {
  devices: Devices
  /** Names of devices and their series in QuestDB. */
  names: Names
  stations: Stations
  metrics: Metrics
  annotations: Annotations
  decoders: OwnDecoders
}

export interface RegistriesOptions {
  config: Config
  log: Log
  store: Store
  replicas: readonly QuestdbReplica[]
  clockMs: Clock
  feed: ChangeFeed
  /** True if readings of all nodes are received. */
  isShared: boolean
  /** True if this process runs the work that one node does for all. */
  leads: () => boolean
  /** Gets the function that closes each of them, in the order of their start. */
  onOpen: (close: () => unknown) => void
}

const hourMs = 3_600_000

export async function openRegistries(options: RegistriesOptions): Promise<Registries> {
  const { config, log, store, replicas, clockMs, feed, isShared, leads, onOpen } = options
  const pool = store.postgres
  const graceMs = config.ROTATION_GRACE_HOURS * hourMs
  const perOwner = config.METRICS_PER_OWNER
  const metrics = await openMetrics({
    pool,
    log,
    mode: config.METRICS,
    perOwner,
    ranges: { ...rangesOf(config) },
    feed,
  })
  onOpen(() => metrics.close())
  const devices = await openDevices({
    pool,
    now: clockMs,
    log,
    graceMs,
    metricsAdded: metrics.learn,
    feed,
    isReceived: isShared,
  })
  onOpen(() => devices.close())
  const stations = openStations({ pool, nowMs: clockMs, log, feed })
  onOpen(() => stations.close())
  const names = openNames({ devices, metrics, replicas, leads, log })
  onOpen(() => names.close())
  const decoders = await openOwnDecoders({ pool, nowMs: clockMs, log, feed })
  onOpen(() => decoders.close())
  return { devices, names, stations, metrics, decoders, annotations: createAnnotations({ pool, nowMs: clockMs }) }
}
