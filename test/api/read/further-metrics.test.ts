/** Metrics that have no column, from the acknowledgement of a reading to the reads: a real ingest, both databases, the registry. */

import { fastify } from 'fastify'
import t from 'tap'
import { registerGroup } from '../../../api/http/register-operations.ts'
import { loggerRules } from '../../../api/http/status-operations.ts'
import { openReads } from '../../../api/read/read-access.ts'
import { readingsGroup } from '../../../api/read/readings.ts'
import type { Device } from '../../../auth/devices/device.ts'
import { NewDevice } from '../../../auth/devices/device.ts'
import { createLive } from '../../../live/live.ts'
import { NewMetric } from '../../../metrics/metric.ts'
import { createReadingsExport } from '../../../query/export/readings-export.ts'
import { createLiveMetrics } from '../../../service/live-metrics.ts'
import { openParts } from '../../support/admin.ts'
import { silentLog, startDatabases } from '../../support/databases.ts'
import { reading } from '../../support/journal-parts.ts'
import { until } from '../../support/processes.ts'

const { store } = await startDatabases(t)
await store.questdb.ready
const { devices, metrics, ingest } = await openParts(t, store)
ingest.startForwarding(store.questdb.address.http, true)

for (const name of ['co2', 'dust']) await metrics.add(NewMetric.parse({ name }), 'test')
const added = await devices.add(
  [{ name: 'station' }, { name: 'plain' }, { name: 'listing', metrics: ['dust', 'co2'] }].map(device =>
    NewDevice.parse(device),
  ),
  'test',
)
if (!added.ok) throw new Error(added.code)
const named = (name: string) => devices.get(name) as Device
const [station, plain, listing] = [named('station'), named('plain'), named('listing')]
await metrics.ensure(
  [
    ...['rain', 'co2_ppm'].map(field => ({ device: station.number, field })),
    ...['co2', 'dust'].map(field => ({ device: listing.number, field })),
  ],
  'test',
)
await metrics.change('co2', { position: 3 }, 'test')

const live = createLive({
  ask: async () => ({ ok: true, rows: new Float64Array(0) }),
  hourSources: () => ({ rawFromUs: 0, expiredBeforeUs: 0 }),
  nowMs: Date.now,
  aheadMs: 300_000,
  isCatchingUp: () => false,
  ordinals: () => [{ taken: 0, applied: 0 }],
  metricsOf: createLiveMetrics(metrics, devices),
  log: silentLog,
})
t.teardown(() => live.close())
live.fill(devices.all())
ingest.onStored(live.take)

const startMs = Date.now() - 600_000
const further = (device: Device, values: Record<string, number>) => ({
  series: Object.keys(values).map(name => metrics.series(device.number, metrics.get(name) as never) as number),
  values: Object.values(values),
})
const send = async (device: Device, second: number, values: Record<string, number>) => {
  const of = reading(second, startMs + second * 1000)
  const more = Object.keys(values).length === 0 ? {} : { further: further(device, values) }
  const outcome = await ingest.accept(device, { ...of, ...more })
  if (outcome !== 'stored') throw new Error(JSON.stringify(outcome))
}
await send(station, 0, { rain: 0.2, co2: 400 })
await send(station, 1, { co2: 401 })
await send(station, 2, {})
await send(plain, 0, {})
await send(listing, 0, { co2: 500, dust: 7 })
await until('they are applied', () => ingest.status().lag.rows === 0)

const rangeReads = createReadingsExport({
  shards: [store.questdb.address],
  log: silentLog,
  limits: { timeoutMs: 600_000 },
})
t.teardown(() => rangeReads.close())
const app = fastify()
t.teardown(() => app.close())
const options = {
  rangeReads,
  metrics,
  nowMs: Date.now,
  expiredBeforeUs: () => Number.NEGATIVE_INFINITY,
  log: silentLog,
}
registerGroup(app, readingsGroup(openReads(devices), options), loggerRules)
const ask = async (name: string, query = '') =>
  await app.inject({ url: `/readings/${name}?start=${startMs - 5000}&end=${startMs + 60_000}${query}` })
const rows = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).json()
const ofColumns = (temperature: number) => ({ temperature, humidity: 50, pressure: 1000 })

t.test('a range has what else the device has, as many columns as are asked for', async t => {
  const ts = (second: number) => startMs + second * 1000
  t.strictSame(await rows('station'), [
    { ts: ts(0), ...ofColumns(0), co2: 400, rain: 0.2 },
    { ts: ts(1), ...ofColumns(1), co2: 401 },
    { ts: ts(2), ...ofColumns(2) },
  ])
  t.strictSame(await rows('station', '&metrics=rain,temperature'), [
    { ts: ts(0), rain: 0.2, temperature: 0 },
    { ts: ts(1), temperature: 1 },
    { ts: ts(2), temperature: 2 },
  ])
  const header = async (name: string, query = '') => (await ask(name, `&format=csv${query}`)).body.split('\r\n')[0]
  const five = 'timestamp,device,temperature,humidity,pressure,battery_voltage,battery_percentage'
  t.equal(await header('station'), `${five},co2,rain`, 'by position')
  t.equal(await header('plain'), five)
  t.equal(await header('listing'), `${five},dust,co2`, 'as it lists them')
  t.equal(await header('station', '&metrics=co2,humidity'), 'timestamp,device,co2,humidity')
  for (const wrong of ['dust', 'co2,co2', '', 'co2,', 'co2&metrics=rain', 'x'.repeat(5000)]) {
    const answer = await ask('station', `&metrics=${wrong}`)
    t.equal(answer.statusCode, 400, wrong.slice(0, 20))
    t.match(answer.json().status, /^metrics must name each once, .*: temperature, .*battery_percentage, co2, rain$/)
  }
})

t.test('the last values of a device and the list of the fleet have them, too', async t => {
  const values = (device: Device) => live.latest(device.number)?.values
  t.match(values(station), { temperature: { v: 2 }, co2: { v: 401, unit: 'ppm' }, rain: { v: 0.2 } })
  t.strictSame(live.latest(station.number)?.metrics?.['co2'], { title: 'CO₂', kind: 'gauge', unit: 'ppm', decimals: 0 })
  t.notOk('metrics' in (live.latest(plain.number) ?? {}))
  t.strictSame(Object.keys(values(plain) ?? {}), ['temperature', 'humidity', 'pressure'])
  const page = live.page({
    states: ['late', 'fresh', 'silent', 'never', 'off'],
    order: 'name',
    after: undefined,
    limit: 9,
  })
  t.strictSame(
    page.devices.map(text => JSON.parse(text)).map(({ device, values }) => `${device} ${Object.keys(values)}`),
    [
      'listing dust,co2,temperature,humidity,pressure',
      'plain temperature,humidity,pressure',
      'station temperature,humidity,pressure,co2,rain',
    ],
  )
})
