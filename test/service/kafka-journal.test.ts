/** The whole service with a topic of Kafka as its journal: a real broker, QuestDB and PostgreSQL. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { prepareTopic } from '../../ingest/kafka/prepare-topics.ts'
import { topicsOf } from '../../ingest/kafka/topic-names.ts'
import { settingsFor, startFaultDatabases } from '../faults/databases.ts'
import { temporaryFolder } from '../support/databases.ts'
import { startKafka } from '../support/kafka.ts'
import { until } from '../support/processes.ts'
import { type Service, startService, withoutQuestdb } from '../support/service.ts'

const hourMs = 3_600_000
const kafka = await startKafka(t)
const topics = topicsOf('barograph-', 1)
const client = await kafka.connect()
const requirements = { replication: 1, retentionMs: 24 * hourMs }
for (const topic of Object.values(topics)) await prepareTopic(client.admin, topic, { requirements, apply: false })

const environment = { KAFKA_BROKERS: kafka.addresses.join(), KAFKA_REPLICATION: '1', KAFKA_RETENTION_HOURS: '24' }
const first = await startService(t, { environment })
const password = await first.addDevice('porch')

const reading = (device: string, temperature: number) => ({ device, temperature, humidity: 50, pressure: 1000 })

/** Also at midnight. */
const sinceStart = `start=${new Date().toISOString()}`

interface Shown {
  journal: { readings: number }
  lag: { readings: number }
}

async function untilShown(service: Service): Promise<void> {
  await until('all is shown', async () => {
    const { body } = await service.admin('GET', '/status')
    return (body as Shown).lag.readings === 0
  })
}

async function temperatures(service: Service, range: string, device = 'porch'): Promise<number[]> {
  const response = await fetch(`${service.url}/api/readings/${device}?${range}&format=ndjson`)
  const lines = (await response.text()).trim().split('\n')
  return lines.filter(line => line !== '').map(line => (JSON.parse(line) as { temperature: number }).temperature)
}

t.test('readings are acknowledged, forwarded and read', async t => {
  for (const temperature of [20, 21, 22]) {
    const { status } = await first.put('porch', password, {
      device: 'porch',
      temperature,
      humidity: 50,
      pressure: 1000,
    })
    t.equal(status, 200)
  }
  await untilShown(first)
  t.strictSame(await temperatures(first, sinceStart), [20, 21, 22])
  const fleet = await (await fetch(`${first.url}/api/fleet`)).json()
  t.match(fleet, { devices: [{ device: 'porch' }] })
})

t.test('what was acknowledged survives a kill of everything but the broker', async t => {
  await first.import(
    `timestamp,device,temperature,humidity,pressure\n${Array.from({ length: 500 }, (_, minute) => `${isoOf(minute)},porch,${minute % 40},50,1000`).join('\n')}`,
  )
  const { status } = await first.put('porch', password, reading('porch', 23))
  t.equal(status, 200)
  await first.killAll()
  const second = await startService(t, { environment, dataDirectory: first.dataDirectory })
  t.equal((await second.put('porch', password, reading('porch', 24))).status, 200)
  await untilShown(second)
  t.strictSame((await temperatures(second, sinceStart)).slice(-5), [20, 21, 22, 23, 24])
  t.strictSame(
    await temperatures(second, 'start=2026-01-01T00:00:00Z&end=2026-01-01T23:59:59Z'),
    Array.from({ length: 500 }, (_, minute) => minute % 40),
  )
})

function isoOf(minute: number): string {
  return new Date(Date.UTC(2026, 0, 1) + minute * 60_000).toISOString()
}

t.test('requests and forwarding in processes of their own', async t => {
  const databases = await startFaultDatabases(t, temporaryFolder(t))
  const shared = {
    ...environment,
    ...settingsFor(databases, databases.questdb.http.port),
    KAFKA_TOPIC_PREFIX: 'roles-',
    PUBLIC_URL: 'http://localhost:1',
  }
  for (const topic of Object.values(topicsOf('roles-', 1))) {
    await prepareTopic(client.admin, topic, { requirements, apply: false })
  }
  const start = (role: string) => {
    const command: [string, ...string[]] = [process.execPath, 'service/main.ts', '--role', role]
    return startService(t, { environment: shared, command })
  }
  const api = await start('api')
  const own = await api.addDevice('cellar')
  t.equal((await api.put('cellar', own, reading('cellar', 1))).status, 200)
  t.match(await api.admin('GET', '/status'), { body: { questdb: { fault: 'no forwarder has begun' } } })

  const holder = await start('forward')
  await untilShown(api)
  const standby = await start('forward')
  t.match(await metricsOf(holder), /^barograph_shard_held\{shard="1"\} 1$/m)
  t.match(await metricsOf(standby), /^barograph_shard_held\{shard="1"\} 0$/m)
  await until('it is ready', async () => (await fetch(`${standby.url}/health/ready`)).status === 200)
  t.equal((await fetch(`${standby.url}/api/fleet`)).status, 404)

  const erased = await api.addDevice('gone')
  t.equal((await api.put('gone', erased, reading('gone', 5))).status, 200)
  await holder.end('SIGKILL')
  t.equal((await api.put('cellar', own, reading('cellar', 2))).status, 200)
  await untilShown(api)
  t.match(await metricsOf(standby), /^barograph_shard_held\{shard="1"\} 1$/m, 'it has taken over')
  t.strictSame(await temperatures(api, sinceStart, 'cellar'), [1, 2])
  t.match(await api.admin('DELETE', '/devices/gone'), { status: 204 })
  t.match(await api.admin('POST', '/devices/gone/erase'), { status: 202 })
  await until('the device is erased', async () => {
    const { body } = await api.admin('GET', '/devices/gone/erase')
    return (body as { state: string }).state === 'done'
  })
  t.strictSame(await temperatures(api, sinceStart, 'cellar'), [1, 2])
})

const metricsOf = async ({ url, dataDirectory }: Service) => {
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  return (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text()
}

t.test('a journal on disk whose readings are not in QuestDB yet is not left behind', async t => {
  const embedded = await startService(t, { environment: withoutQuestdb })
  const own = await embedded.addDevice('attic')
  t.equal((await embedded.put('attic', own, reading('attic', 1))).status, 200)
  await embedded.end('SIGTERM')
  await t.rejects(
    startService(t, { environment: { ...environment, ...withoutQuestdb }, dataDirectory: embedded.dataDirectory }),
    /has 1 records that QuestDB may lack/,
  )
})
