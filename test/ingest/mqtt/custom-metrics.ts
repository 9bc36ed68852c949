/** Messages with custom metrics at the MQTT listener, on a real PostgreSQL and with the real client. */

import t from 'tap'
import { NewDevice } from '../../../auth/devices/device.ts'
import { openDevices } from '../../../auth/devices/devices.ts'
import { openMetrics } from '../../../auth/metrics/metrics.ts'
import { sharedPostgres, silentLog } from '../../support/databases.ts'
import { connectClient, reading, startListener } from '../../support/mqtt.ts'

const { store } = await sharedPostgres(t)
const pool = store.postgres
const devices = await openDevices({ pool, now: Date.now, log: silentLog, graceMs: 1000 })
t.teardown(() => devices.close())
const metrics = await openMetrics({ pool, log: silentLog, mode: 'open' })
t.teardown(() => metrics.close())
const added = await devices.add([NewDevice.parse({ name: 'hall' })], 'test')
if (!added.ok) throw new Error(added.code)
const login = { username: 'hall', password: added.value[0]?.password ?? '' }
const { number = 0 } = devices.get('hall') ?? {}

t.test('messages that wait for their metrics keep their order', async t => {
  const { url, journal, rejections } = await startListener(t, { registry: devices, metrics })
  const client = await connectClient(t, url, login)
  const fields = [{}, { co2: 400 }, {}, { co2: 401, noise: 50 }, { co2: 402 }, { rain: -1 }, {}]
  await Promise.all(fields.map((custom, at) => client.publishAsync('readings/hall', reading(at, custom), { qos: 1 })))
  t.strictSame(journal.stored, [0, 1, 2, 3, 4, 5, 6])
  t.strictSame(rejections, [])
  t.match(metrics.metricsOf(number), [{ name: 'co2' }, { name: 'noise' }, { name: 'rain' }])
})
