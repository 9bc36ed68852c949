/** Readings with further metrics, through the whole service: by HTTP and MQTT, to their rows in QuestDB. */

import { connectAsync, type MqttClient } from 'mqtt'
import tap, { type Test } from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { measurementsTable, readingsTable } from '../../store/tables.ts'
import { askQuestdb } from '../support/ask-questdb.ts'
import { freeze } from '../support/frozen.ts'
import { serverPid, until } from '../support/processes.ts'
import { type Service, startService, withoutQuestdb } from '../support/service.ts'

const good = { temperature: 21.5, humidity: 48, pressure: 1013.2 }

async function answerOf(response: Response): Promise<{ status: number; body: unknown }> {
  return { status: response.status, body: await response.json() }
}

/** Names of the metrics that are not built in, oldest first. */
async function metricsOf({ admin }: Service): Promise<string[]> {
  const { body } = await admin('GET', '/metrics')
  return (body as { metrics: { name: string; built_in: boolean }[] }).metrics
    .filter(metric => !metric.built_in)
    .map(({ name }) => name)
}

async function isReady({ url }: Service): Promise<boolean> {
  return ((await (await fetch(`${url}/health/ready`)).json()) as { status: string }).status === 'ok'
}

async function connect(t: Test, port: number, username: string, password: string): Promise<MqttClient> {
  const client = await connectAsync(`mqtt://127.0.0.1:${port}`, {
    username,
    password,
    clientId: 'test',
    clean: false,
    reconnectPeriod: 50,
  })
  client.on('error', () => undefined)
  t.teardown(() => void client.end(true))
  return client
}

tap.test(
  'readings with further metrics have rows of both tables, over a restart, and are replaced as a whole',
  async t => {
    const port = await freePort()
    const environment = { MQTT_PORT: String(port) }
    const service = await startService(t, { environment })
    const { dataDirectory } = service
    const password = await service.addDevice('hall')
    const atMs = Date.now() - 60_000
    const body = { device: 'hall', ...good, co2: 412, pm2_5: 7.5, door: true, note: 'dry' }
    const put = async (of: Service, fields: object, headers?: Record<string, string>) =>
      answerOf(await of.put('hall', password, fields, headers))
    const stored = { status: 200, body: { status: 'success', ignored: ['note'] } }
    t.strictSame(await put(service, { ...body, timestamp: atMs }), stored)
    t.strictSame(await metricsOf(service), ['co2', 'pm25', 'door'])
    const keyed = { 'idempotency-key': 'one' }
    t.strictSame(await put(service, { ...body, timestamp: atMs + 1000, co2: 413 }, keyed), stored)
    t.strictSame(await put(service, { ...body, timestamp: atMs + 1000, co2: 413 }, keyed), stored)
    const { status } = await service.admin('PATCH', '/devices/hall', { metrics: ['co2', 'door'] })
    t.equal(status, 200)
    const client = await connect(t, port, 'hall', password)
    await client.publishAsync('readings/hall', JSON.stringify({ timestamp: atMs + 2000, co2: 414, door: 0 }), {
      qos: 1,
    })
    await client.endAsync()

    // A null takes a value away, or would have.
    const sql = `SELECT ts, series, value FROM ${measurementsTable} WHERE value IS NOT NULL ORDER BY ts, series`
    const rowsOf = async (directory: string) =>
      (await askQuestdb(directory, sql)).map(([ts, series, value]) => [Date.parse(String(ts)) - atMs, series, value])
    await until('QuestDB is up', () => isReady(service))
    await until('all rows are there', async () => (await rowsOf(dataDirectory)).length === 8)
    const rows = [
      [0, 1, 412],
      [0, 2, 7.5],
      [0, 3, 1],
      [1000, 1, 413],
      [1000, 2, 7.5],
      [1000, 3, 1],
      [2000, 1, 414],
      [2000, 3, 0],
    ]
    t.strictSame(await rowsOf(dataDirectory), rows)
    const temperatures = () => askQuestdb(dataDirectory, `SELECT temperature FROM ${readingsTable} ORDER BY ts`)
    t.strictSame(await temperatures(), [[21.5], [21.5], [null]])

    await service.end('SIGTERM')
    const again = await startService(t, { dataDirectory, environment })
    t.strictSame(await put(again, { device: 'hall', timestamp: atMs, co2: 500, door: null }), {
      status: 200,
      body: { status: 'success' },
    })
    await until('QuestDB is up again', () => isReady(again))
    // Which series the journal does not have any more is known from the registry.
    await until('the reading is replaced as a whole', async () => (await rowsOf(dataDirectory)).length === 6)
    t.strictSame(await rowsOf(dataDirectory), [[0, 1, 500], ...rows.slice(3)])
  },
)

tap.test('while PostgreSQL does not answer, known fields are stored, and a new one is to be sent again', async t => {
  const port = await freePort()
  const service = await startService(t, { environment: { ...withoutQuestdb, MQTT_PORT: String(port) } })
  const password = await service.addDevice('porch')
  const put = async (fields: object) => answerOf(await service.put('porch', password, { device: 'porch', ...fields }))
  const success = { status: 200, body: { status: 'success' } }
  t.strictSame(await put({ ...good, co2: 400 }), success)
  const client = await connect(t, port, 'porch', password)
  const thaw = freeze(serverPid({ path: service.dataDirectory }, 'postgres'))
  let isAcknowledged = false
  const published = client
    .publishAsync('readings/porch', JSON.stringify({ ...good, by_mqtt: 1 }), { qos: 1 })
    .then(() => (isAcknowledged = true))
  try {
    t.strictSame(await put({ ...good, co2: 401 }), success)
    const away = await put({ ...good, co2: 402, fresh: 1 })
    t.strictSame(away, { status: 503, body: { status: 'database unavailable' } })
    t.strictSame(await put({ ...good, co2: 403 }), success)
    const refused = /^barograph_readings_rejected_total\{reason="database_away"\} ([2-9]|\d\d)/m
    await until('the message was refused, too', async () =>
      refused.test(await (await fetch(`${service.url}/metrics`)).text()),
    )
    t.notOk(isAcknowledged)
  } finally {
    thaw()
  }
  await published
  await until('a new one makes a metric again', async () => (await put({ ...good, fresh: 1 })).status === 200)
  t.strictSame(new Set(await metricsOf(service)), new Set(['by_mqtt', 'co2', 'fresh']))
})

tap.test('with METRICS=declared only administrators make metrics', async t => {
  const service = await startService(t, { environment: { ...withoutQuestdb, METRICS: 'declared' } })
  const password = await service.addDevice('porch')
  const put = async () =>
    answerOf(await service.put('porch', password, { device: 'porch', ...good, sap_flow: 1, x: 2 }))
  t.strictSame(await put(), { status: 200, body: { status: 'success', ignored: ['sap_flow', 'x'] } })
  t.match(await service.admin('POST', '/metrics', { name: 'sap_flow', unit: 'L/h', min: 0 }), { status: 201 })
  t.strictSame(await put(), { status: 200, body: { status: 'success', ignored: ['x'] } })
  t.strictSame(await metricsOf(service), ['sap_flow'])
})

tap.test('an API key that makes devices makes their metrics, and rejections name field and range', async t => {
  const service = await startService(t, { environment: withoutQuestdb })
  const account = { email: 'ada@example.com', name: 'Ada', role: 'administrator', password: 'long enough' }
  const { body: added } = await service.admin('POST', '/accounts', account)
  await service.admin('PATCH', `/accounts/${(added as { id: number }).id}`, { email_verified: true })
  const wanted = { account: account.email, name: 'gateway', scopes: ['ingest'], create_devices: true }
  const { body: made } = await service.admin('POST', '/keys', wanted)
  const { key } = made as { key: string }
  const put = async (body: object) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    return answerOf(await fetch(`${service.url}/api/log`, { method: 'PUT', headers, body: JSON.stringify(body) }))
  }
  const nulls = { temperature: null, humidity: null, pressure: null }
  t.strictSame(await put({ device: 'attic', ...nulls, co2: 400 }), { status: 200, body: { status: 'success' } })
  t.strictSame(await metricsOf(service), ['co2'])
  const errors = { co2: 'must be between 0 and 100000' }
  t.strictSame(await put({ device: 'attic', ...nulls, co2: -5 }), {
    status: 400,
    body: { status: 'invalid payload', errors },
  })
  const { body: page } = await service.admin('GET', '/rejections')
  const [latest] = (page as { rejections: { reason: string }[] }).rejections
  t.match(latest, { reason: 'invalid payload: co2 must be between 0 and 100000' })
})
