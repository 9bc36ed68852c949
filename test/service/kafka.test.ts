/**
 * Services with topics of one broker as journals, on one QuestDB. Two processes take requests and two forward, and
 * others take over from a killed one. Then one process does both, and QuestDB loses rows. Replicas:
 * `test/long/replicas.long.ts`.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Admin } from '@platformatic/kafka'
import t from 'tap'
import { topicsOf } from '../../ingest/kafka/client/names.ts'
import { prepareTopic } from '../../ingest/kafka/client/prepare.ts'
import { basicOf } from '../support/air-quality.ts'
import { createEventSource } from '../support/event-source.ts'
import { startKafka } from '../support/kafka.ts'
import { leaseSeconds, makeSecrets } from '../support/nodes.ts'
import { makePerson } from '../support/people.ts'
import { type Service, startService } from '../support/service.ts'
import { startTcpPostgres } from '../support/tcp-postgres.ts'
import { waitFor } from '../support/wait-for.ts'
import { lendQuestdb } from '../support/worker-questdb.ts'

const questdb = await lendQuestdb(t)
const [kafka, postgres] = await Promise.all([startKafka(t), startTcpPostgres(t)])
const topics = topicsOf('barograph-')
const client = await kafka.connect()
const requirements = { replication: 1, retentionMs: 24 * 3_600_000 }
for (const topic of Object.values(topics)) await prepareTopic(client.admin, topic, { requirements, apply: false })
const environment = {
  ...questdb.settings,
  KAFKA_BROKERS: kafka.addresses.join(),
  KAFKA_REPLICATION: '1',
  KAFKA_RETENTION_HOURS: '24',
  DATABASE_URL: postgres.url,
  PUBLIC_URL: 'http://localhost:1',
  SECRETS_DIR: makeSecrets(t),
  NODE_LEASE_SECONDS: String(leaseSeconds),
  AIR_QUALITY_HTTP: 'allow',
}
const start = (role: 'all' | 'api' | 'forward') =>
  startService(t, { environment, command: [process.execPath, 'service/main.ts', '--role', role] })

const nodes = await Promise.all([start('api'), start('api')])
const [one, other] = nodes
const password = await one.addDevice('porch')
const sinceStart = `start=${new Date().toISOString()}`

const put = async (node: Service, temperature: number, device = 'porch', secret = password) =>
  (await node.put(device, secret, { device, temperature, humidity: 50, pressure: 1000 })).status

async function temperatures({ url }: Service, range = sinceStart): Promise<string> {
  const response = await fetch(`${url}/api/readings/porch?${range}&format=ndjson`)
  if (response.status !== 200) return String(response.status)
  const lines = (await response.text()).split('\n').filter(line => line !== '')
  return lines.map(line => (JSON.parse(line) as { temperature: number }).temperature).join()
}

const untilShown = (node: Service, wanted: string) =>
  waitFor(`${wanted} are shown`, async () => (await temperatures(node)) === wanted)

/** `1` if the process has the lock of the replica. */
async function isHeld({ url, dataDirectory }: Service): Promise<string | undefined> {
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  return /^barograph_forwarder_held\{replica="1"\} (\d)$/m.exec(await response.text())?.[1]
}

t.test('before anything is forwarded, the event of a reading is sent by both nodes, in one order', async t => {
  t.match(await one.admin('GET', '/status'), { body: { questdb: { fault: 'no forwarder has started' } } })
  for (const { url } of nodes) {
    await waitFor('the fleet is loaded', async () => (await fetch(`${url}/api/fleet`)).status === 200)
  }
  const sources = nodes.map(() => createEventSource())
  t.teardown(() => {
    for (const source of sources) source.close()
  })
  for (const [at, source] of sources.entries()) await source.connect(nodes[at as 0 | 1])
  for (const value of [1, 2, 3, 4]) t.equal(await put(value % 2 === 0 ? one : other, value), 200)
  for (const { received } of sources) {
    const values = () => received.flatMap(({ event, data }) => (event === 'reading' ? data.values['temperature'] : []))
    await waitFor('all are sent', () => values().length >= 4)
    t.strictSame(values(), [1, 2, 3, 4], 'each once')
  }
})

let holder: Service
let standby: Service

t.test('one of two forwarders has the replica, whose progress both nodes show', async t => {
  holder = await start('forward')
  for (const node of nodes) await untilShown(node, '1,2,3,4')
  standby = await start('forward')
  t.strictSame([await isHeld(holder), await isHeld(standby)], ['1', '0'])
  await waitFor('it is ready', async () => (await fetch(`${standby.url}/health/ready`)).status === 200)
  t.equal((await fetch(`${standby.url}/api/fleet`)).status, 404, 'it takes no requests')
})

t.test('points of a station that one node has taken are known to both', async t => {
  const { id } = await makePerson(one, { role: 'administrator' })
  const { body } = await one.admin('POST', '/keys', { account: id, name: 'k', scopes: ['read', 'ingest'] })
  t.equal((await one.admin('POST', '/stations', { sn: 'S-1', model: 'M1', owner: id })).status, 201)
  const point = { parameter: 'no2', unit: 'ppb', timestamp: new Date().toISOString().slice(0, 19), value: 1 }
  const init = {
    method: 'POST',
    headers: { authorization: basicOf((body as { key: string }).key), 'content-type': 'application/json' },
    body: JSON.stringify([point]),
  }
  const statusOf = async () => (await fetch(`${one.url}/api/v1.0/device/S-1/data/`, init)).status
  // The first group of a topic may take longer than the service waits for Kafka: it then answers 503, and a client repeats.
  await waitFor('it is taken', async () => (await statusOf()) === 201)
  const lastData = async ({ admin }: Service) =>
    ((await admin('GET', '/stations/S-1')).body as { last_data_at: string | null }).last_data_at
  for (const node of nodes) await waitFor('it is known', async () => (await lastData(node)) !== null)
})

t.test('others take over from a killed forwarder and a killed node without loss', async t => {
  const gone = await one.addDevice('gone')
  t.equal(await put(one, 5, 'gone', gone), 200)
  await holder.end('SIGKILL')
  t.equal(await put(one, 5), 200)
  await one.end('SIGKILL')
  t.equal(await put(other, 6), 200)
  await untilShown(other, '1,2,3,4,5,6')
  t.equal(await isHeld(standby), '1')

  interface NodeStates {
    nodes: { is_self: boolean; leads: boolean }[]
  }
  await waitFor('the other node leads', async () => {
    const { body } = await other.admin('GET', '/status')
    return (body as NodeStates).nodes.some(({ is_self, leads }) => is_self && leads)
  })
  await waitFor('changes are taken', async () => (await other.admin('DELETE', '/devices/gone')).status === 204)
  t.match(await other.admin('POST', '/devices/gone/erase'), { status: 202 })
  const erased = async () => ((await other.admin('GET', '/devices/gone/erase')).body as { state: string }).state
  await waitFor('the job of the node that leads is done', async () => (await erased()) === 'done')
  t.strictSame(await questdb.sql('SELECT count() FROM readings WHERE temperature IS NOT NULL'), [[6]])
})

t.test('a kill of all but the broker and the loss of QuestDB lose nothing: the topic is sent again', async t => {
  const minutes = Array.from({ length: 500 }, (_, minute) => minute)
  const rows = minutes.map(minute => `${Date.UTC(2026, 0, 1) + minute * 60_000},porch,${minute % 40},50,1000`)
  await other.import(`timestamp,device,temperature,humidity,pressure\n${rows.join('\n')}`)
  t.equal(await put(other, 7), 200)
  for (const service of [standby, other]) await service.end('SIGKILL')
  await questdb.empty()
  const alone = await start('all')
  t.equal(await put(alone, 8), 200)
  await untilShown(alone, '1,2,3,4,5,6,7,8')
  const ofDay = 'start=2026-01-01T00:00:00Z&end=2026-01-01T23:59:59Z'
  t.equal(await temperatures(alone, ofDay), minutes.map(minute => minute % 40).join())
  t.match(alone.output(), /replaying the topic/)
  t.equal(await alone.end('SIGTERM'), 0)
})

t.test('if the topic has removed rows that QuestDB lacks, reads and forwarding stop with a message', async t => {
  // Deletes records like the topic's retention.
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...kafka.addresses] })
  await admin.deleteRecords({ topics: [{ name: topics.readings, partitions: [{ partition: 0, offset: 1n }] }] })
  await admin.close()
  await questdb.empty()
  const lost = await start('all')
  const isSaid = async () =>
    (await (await fetch(`${lost.url}/health/ready`)).text()).includes('lacks readings that were received from')
  await waitFor('it is said', isSaid)
  t.equal(await temperatures(lost), '503')
  await waitFor('the forwarder stands still', () => /nothing is forwarded/.test(lost.output()))
})
