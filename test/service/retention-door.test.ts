/** Readings that are older than RETENTION_DAYS, by each way in of the whole service. */

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { connectAsync } from 'mqtt'
import t, { type Test } from 'tap'
import { basic, type Service, type ServiceSettings, startService, withoutQuestdb } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const dayMs = 86_400_000
const days = 30
/** Of a run at midnight, too. */
const oldestMs = () => (Math.floor(Date.now() / dayMs) - days) * dayMs
const isoDay = (ms: number) => new Date(ms).toISOString().slice(0, 10)
const expired = () => `must not be before ${isoDay(oldestMs())}: older readings have expired`

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

interface Ways {
  service: Service
  password: string
  mqttPort: number
}

async function start(t: Test, settings: ServiceSettings = {}): Promise<Ways> {
  const mqttPort = await freePort()
  const environment = { ...withoutQuestdb, MQTT_PORT: String(mqttPort), ...settings.environment }
  const service = await startService(t, { ...settings, environment })
  return { service, password: await service.addDevice('porch'), mqttPort }
}

const values = { temperature: 1, humidity: 2, pressure: 1000 }
const header = 'timestamp,device,temperature,humidity,pressure\n'

/** What the service says to a reading of this time, by each way in that answers. */
async function answers({ service, password }: Ways, timeMs: number): Promise<Record<string, unknown>> {
  const { url } = service
  const authorization = basic('porch', password)
  const post = async (path: string, type: string, body: string) => {
    const headers = { authorization, 'content-type': type }
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }
  const body = { device: 'porch', timestamp: timeMs, ...values }
  const line = `weather,device=porch temperature=1,humidity=2,pressure=1000 ${timeMs}`
  const row = `${header}${timeMs},porch,1,2,1000\n`
  const put = await service.put('porch', password, body)
  return {
    put: { status: put.status, body: await put.json() },
    array: await post('/api/log/batch', 'application/json', JSON.stringify([body])),
    ndjson: await post('/api/log/batch', 'application/x-ndjson', JSON.stringify(body)),
    csv: await post('/api/log/batch', 'text/csv', row),
    strict: await post('/api/log/batch?strict=true', 'text/csv', row),
    line1: await post('/write?precision=ms', 'text/plain', line),
    line2: await post('/api/v2/write?precision=ms', 'text/plain', line),
    import: await service.postImport(row),
  }
}

async function metric(service: Service, name: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const line = text.split('\n').find(candidate => candidate.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1))
}

const durable = 'barograph_readings_durable_total'

t.test('each way in refuses a reading of an expired day in its own words, and stores nothing of it', async t => {
  const ways = await start(t, { environment: { RETENTION_DAYS: String(days) } })
  const reason = expired()
  const rejects = [{ code: 'READING_INVALID', device: 'porch', reason: `timestamp ${reason}` }]
  const found = await answers(ways, oldestMs() - 1)
  t.match(found, {
    put: { status: 400, body: { errors: { timestamp: reason } } },
    array: { status: 200, body: { stored: 0, rejected: 1, rejects } },
    ndjson: { status: 200, body: { stored: 0, rejected: 1, rejects } },
    csv: { status: 200, body: { stored: 0, rejected: 1, rejects } },
    strict: { status: 400, body: { rejected: 1, rejects } },
    line1: { status: 400, body: { error: new RegExp(`timestamp ${reason}`) } },
    line2: { status: 400, body: { message: new RegExp(`timestamp ${reason}`) } },
    import: { status: 200, accepted: 0, rejected: 1 },
  })
  const url = `mqtt://127.0.0.1:${ways.mqttPort}`
  const options = { username: 'porch', password: ways.password, reconnectPeriod: 0 }
  const client = await connectAsync(url, options)
  t.teardown(() => void client.end(true))
  const publish = (timestamp: number) =>
    client.publishAsync('readings/porch', JSON.stringify({ timestamp, ...values }), { qos: 1 })
  await publish(oldestMs() - 1)
  const refused = 'barograph_readings_rejected_total{reason="invalid"}'
  await waitFor('both single readings are refused', async () => (await metric(ways.service, refused)) === 2)
  t.equal(await metric(ways.service, durable), 0)
  await publish(oldestMs() + dayMs)
  // An answer of /metrics is kept for a moment.
  await waitFor('the next day is taken', async () => (await metric(ways.service, durable)) === 1)
})

t.test('the first day that is kept is taken by each way', async t => {
  const ways = await start(t, { environment: { RETENTION_DAYS: String(days) } })
  // Not a time of a day that is the last one a minute later.
  const found = await answers(ways, oldestMs() + dayMs)
  t.match(found, {
    put: { status: 200 },
    array: { body: { stored: 1 } },
    ndjson: { body: { stored: 1 } },
    csv: { body: { stored: 1 } },
    strict: { body: { stored: 1 } },
    line1: { status: 204 },
    line2: { status: 204 },
    import: { accepted: 1 },
  })
})

t.test('without the setting readings of any age are taken', async t => {
  const ways = await start(t)
  const found = await answers(ways, Date.UTC(2001, 0, 1))
  t.match(found, {
    put: { status: 200 },
    csv: { body: { stored: 1 } },
    line2: { status: 204 },
    import: { accepted: 1 },
  })
  t.equal(await metric(ways.service, durable), 8)
})
