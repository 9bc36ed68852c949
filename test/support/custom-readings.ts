/** Readings with values of metrics that have no column, taken in and stored as the service does it, in real databases. */

import type { Device } from '../../auth/devices/device.ts'
import { openDevices } from '../../auth/devices/devices.ts'
import { openMetrics } from '../../auth/metrics/metrics.ts'
import { NewMetric } from '../../store/metrics/metric.ts'
import { metrics as columns, type Metric } from '../../store/tables.ts'
import { openTestIngest } from '../ingest/open-ingest.ts'
import { addDeviceTo, valueIn } from './changed.ts'
import { closing, silentLog, type TestHooks } from './databases.ts'
import { until } from './processes.ts'
import { startLentDatabases } from './worker-questdb.ts'

type Values = Readonly<Record<string, number | null>>

export async function startCustomReadings(t: TestHooks) {
  const { store } = await startLentDatabases(t)
  const pool = store.postgres
  const devices = closing(t, await openDevices({ pool, now: Date.now, log: silentLog, graceMs: 1000 }))
  const metrics = closing(t, await openMetrics({ pool, log: silentLog, mode: 'open' }))
  const ingest = openTestIngest(t, { keepMs: 3_600_000 })
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
    async addDevice(name: string, more: object = {}): Promise<Device> {
      await addDeviceTo(devices, name, more)
      return devices.get(name) as Device
    },
    addMetric: async (metric: object) => valueIn(await metrics.add(NewMetric.parse(metric), 'test')),
    /** Resolves when the readings are stored. */
    async send(device: Device, readings: Iterable<readonly [timeMs: number, values: Values]>): Promise<void> {
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
    /** Resolves when queries see everything. */
    applied: () => until('all readings are applied', () => ingest.status().lag.rows === 0),
  }
}
