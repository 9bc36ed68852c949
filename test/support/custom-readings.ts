/** Readings with values of metrics that have no column, taken in and stored as the service does it, in real databases. */

import { join } from 'node:path'
import type { Device } from '../../auth/devices/device.ts'
import { NewDevice } from '../../auth/devices/device.ts'
import { type Devices, openDevices } from '../../auth/devices/devices.ts'
import { type Metrics, openMetrics } from '../../auth/metrics/metrics.ts'
import { type ForwardingIngest, openIngest } from '../../ingest/ingest.ts'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import { NewMetric } from '../../store/metrics/metric.ts'
import type { Store } from '../../store/store.ts'
import { metrics as columns, type Metric } from '../../store/tables.ts'
import { silentLog, type TestHooks, temporaryFolder } from './databases.ts'
import { until } from './processes.ts'
import { startLentDatabases } from './worker-questdb.ts'

/** By the names of metrics; null is a missing value. */
type Values = Readonly<Record<string, number | null>>

export interface CustomReadings {
  readonly store: Store
  readonly devices: Devices
  readonly metrics: Metrics
  readonly ingest: ForwardingIngest
  addDevice(name: string, more?: object): Promise<Device>
  /** As the registry has them from now on. */
  addMetric(metric: object): Promise<void>
  /** Resolves when the readings are stored. */
  send(device: Device, readings: Iterable<readonly [timeMs: number, values: Values]>): Promise<void>
  /** Resolves when queries see everything. */
  applied(): Promise<void>
}

export async function startCustomReadings(t: TestHooks): Promise<CustomReadings> {
  const { store } = await startLentDatabases(t)
  const pool = store.postgres
  const devices = await openDevices({ pool, now: Date.now, log: silentLog, graceMs: 1000 })
  t.teardown(() => devices.close())
  const metrics = await openMetrics({ pool, log: silentLog, mode: 'open' })
  t.teardown(() => metrics.close())
  const ingest = openIngest({
    directory: join(temporaryFolder(t), 'journal'),
    log: silentLog,
    journalBytesMax: 1024 ** 3,
    reserveBytes: 0,
    keepMs: 3_600_000,
    clock: createWallClock({ nowMs: Date.now }),
    onFatal: error => {
      throw error
    },
  })
  t.teardown(() => ingest.close())
  ingest.startForwarding(store.questdb.address.http, true)

  function customOf({ number }: Device, values: Values) {
    const series: number[] = []
    const custom: number[] = []
    for (const [name, value] of Object.entries(values)) {
      const metric = metrics.get(name)
      if (metric === undefined || metric.built_in || value === null) continue
      series.push(metrics.series(number, metric) ?? Number.NaN)
      custom.push(value)
    }
    return { series, values: custom }
  }

  return {
    store,
    devices,
    metrics,
    ingest,
    async addDevice(name, more = {}) {
      const added = await devices.add([NewDevice.parse({ name, ...more })], 'test')
      const device = devices.get(name)
      if (!added.ok || device === undefined) throw new Error(`${name} was not added`)
      return device
    },
    async addMetric(metric) {
      const added = await metrics.add(NewMetric.parse(metric), 'test')
      if (!added.ok) throw new Error(`${JSON.stringify(metric)} was not added: ${added.code}`)
    },
    async send(device, readings) {
      const all = [...readings]
      const fields = new Set(all.flatMap(([, values]) => Object.keys(values)))
      const sightings = Array.from(fields, field => ({ device: device.number, field }))
      if ((await metrics.ensure(sightings, 'test')) !== 'done') throw new Error('metrics are to be made later')
      const accepted = await Promise.all(
        all.map(([timestampMs, values]) => {
          const column = (name: Metric) => values[name] ?? Number.NaN
          const five = Object.fromEntries(columns.map(name => [name, column(name)])) as Record<Metric, number>
          return ingest.accept(device, { timestampMs, ...five, custom: customOf(device, values) })
        }),
      )
      if (accepted.some(outcome => outcome !== 'stored')) throw new Error('a reading was not stored')
    },
    applied: () => until('all readings are applied', () => ingest.status().lag.rows === 0),
  }
}
