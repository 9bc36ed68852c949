/** A QuestDB without rows that a topic of Kafka has given it: the topic sends them again as far as it has them. */

import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Admin } from '@platformatic/kafka'
import t from 'tap'
import { prepareTopic } from '../../ingest/kafka/prepare-topics.ts'
import { topicsOf } from '../../ingest/kafka/topic-names.ts'
import { settingsFor, startFaultDatabases } from '../faults/databases.ts'
import { temporaryFolder } from '../support/databases.ts'
import { startKafka } from '../support/kafka.ts'
import { until } from '../support/processes.ts'
import { type Service, startService } from '../support/service.ts'

const kafka = await startKafka(t)
const client = await kafka.connect()
const requirements = { replication: 1, retentionMs: 24 * 3_600_000 }
const environment = { KAFKA_BROKERS: kafka.addresses.join(), KAFKA_REPLICATION: '1', KAFKA_RETENTION_HOURS: '24' }
const sinceStart = `start=${new Date().toISOString()}`

async function prepare(prefix: string): Promise<Record<string, string>> {
  for (const topic of Object.values(topicsOf(prefix, 1))) {
    await prepareTopic(client.admin, topic, { requirements, apply: false })
  }
  return { ...environment, KAFKA_TOPIC_PREFIX: prefix }
}

async function temperatures({ url }: Service): Promise<string> {
  const response = await fetch(`${url}/api/readings/porch?${sinceStart}&format=ndjson`)
  if (response.status !== 200) return String(response.status)
  const lines = (await response.text()).split('\n').filter(line => line !== '')
  return lines.map(line => (JSON.parse(line) as { temperature: number }).temperature).join()
}

const untilShown = (service: Service, wanted: string) =>
  until(`${wanted} are shown`, async () => (await temperatures(service)) === wanted)

async function untilUnready(service: Service, text: string): Promise<void> {
  await until(text, async () => {
    const answer = await (await fetch(`${service.url}/health/ready`)).json()
    return JSON.stringify(answer).includes(text)
  })
}

async function put(service: Service, password: string, temperature: number): Promise<void> {
  const { status } = await service.put('porch', password, {
    device: 'porch',
    temperature,
    humidity: 50,
    pressure: 1000,
  })
  if (status !== 200) throw new Error(`answered ${status}`)
}

t.test('a managed one: emptied, and an older copy', async t => {
  const settings = await prepare('managed-')
  const first = await startService(t, { environment: settings })
  const { dataDirectory } = first
  const database = join(dataDirectory, 'questdb', 'root', 'db')
  const password = await first.addDevice('porch')
  await put(first, password, 20)
  await untilShown(first, '20')
  await first.end('SIGTERM')
  cpSync(database, `${database}.older`, { recursive: true })

  const second = await startService(t, { environment: settings, dataDirectory })
  await put(second, password, 21)
  await untilShown(second, '20,21')
  await second.end('SIGTERM')
  renameSync(database, `${database}.away`)

  const emptied = await startService(t, { environment: settings, dataDirectory })
  await untilShown(emptied, '20,21')
  t.match(emptied.output(), /replaying the topic/)
  await emptied.end('SIGTERM')
  rmSync(database, { recursive: true })
  renameSync(`${database}.older`, database)

  const older = await startService(t, { environment: settings, dataDirectory })
  await untilShown(older, '20,21')
  t.match(older.output(), /replaying the topic/)
  await older.end('SIGTERM')

  // As the retention of the topic does.
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...kafka.addresses] })
  const name = topicsOf('managed-', 1).readings
  await admin.deleteRecords({ topics: [{ name, partitions: [{ partition: 0, offset: 1n }] }] })
  await admin.close()
  rmSync(database, { recursive: true })
  const lost = await startService(t, { environment: settings, dataDirectory })
  await untilUnready(lost, 'lacks readings that were received from')
  t.equal(await temperatures(lost), '503')
  await until('the forwarder stands still', () => /nothing is forwarded/.test(lost.output()))
})

t.test('an external one: another one at its address, which serves another service', async t => {
  const settings = await prepare('external-')
  const own = await startFaultDatabases(t, temporaryFolder(t))
  const others = await startFaultDatabases(t, temporaryFolder(t))
  const othersSettings = { ...(await prepare('others-')), ...settingsFor(others, others.questdb.http.port) }
  const other = await startService(t, { environment: othersSettings })
  await put(other, await other.addDevice('porch'), 40)
  await untilShown(other, '40')
  await other.end('SIGTERM')

  const ownSettings = { ...settings, ...settingsFor(own, own.questdb.http.port) }
  const first = await startService(t, { environment: ownSettings })
  const password = await first.addDevice('porch')
  await put(first, password, 20)
  await untilShown(first, '20')
  await first.end('SIGTERM')

  const { QUESTDB_HTTP, QUESTDB_PG } = othersSettings
  const exchanged = await startService(t, {
    environment: { ...ownSettings, QUESTDB_HTTP, QUESTDB_PG } as Record<string, string>,
    dataDirectory: first.dataDirectory,
  })
  await untilUnready(exchanged, 'is of another service: it lacks readings')
  t.equal(await temperatures(exchanged), '503')
  await put(exchanged, password, 21)
  t.strictSame(await others.sql('SELECT count() FROM readings'), [[1]], 'nothing is sent there')
  await exchanged.end('SIGTERM')

  const back = await startService(t, { environment: ownSettings, dataDirectory: first.dataDirectory })
  await untilShown(back, '20,21')
})
