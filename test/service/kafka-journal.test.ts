/** The whole service with a topic of Kafka as its journal, and a QuestDB of its own that loses what it had. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Admin } from '@platformatic/kafka'
import t from 'tap'
import { prepareTopic } from '../../ingest/kafka/prepare-topics.ts'
import { topicsOf } from '../../ingest/kafka/topic-names.ts'
import { becomes } from '../support/becomes.ts'
import { startKafka } from '../support/kafka.ts'
import { type Service, startService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const kafka = await startKafka(t)
const topics = topicsOf('barograph-')
const client = await kafka.connect()
const requirements = { replication: 1, retentionMs: 24 * 3_600_000 }
for (const topic of Object.values(topics)) await prepareTopic(client.admin, topic, { requirements, apply: false })

const environment = { KAFKA_BROKERS: kafka.addresses.join(), KAFKA_REPLICATION: '1', KAFKA_RETENTION_HOURS: '24' }
const first = await startService(t, { environment })
const { dataDirectory } = first
const again = () => startService(t, { environment, dataDirectory })
const loseQuestdb = () => rmSync(join(dataDirectory, 'questdb', 'root', 'db'), { recursive: true })
const password = await first.addDevice('porch')

/** Also at midnight. */
const sinceStart = `start=${new Date().toISOString()}`

async function temperatures({ url }: Service, range = sinceStart): Promise<string> {
  const response = await fetch(`${url}/api/readings/porch?${range}&format=ndjson`)
  if (response.status !== 200) return String(response.status)
  const lines = (await response.text()).split('\n').filter(line => line !== '')
  return lines.map(line => (JSON.parse(line) as { temperature: number }).temperature).join()
}

const put = async (service: Service, temperature: number) =>
  (await service.put('porch', password, { device: 'porch', temperature, humidity: 50, pressure: 1000 })).status

t.test('readings are acknowledged, forwarded and read', async t => {
  for (const temperature of [20, 21, 22]) t.equal(await put(first, temperature), 200)
  await becomes(t, () => temperatures(first), '20,21,22', 'all are shown')
  const fleet = async () => await (await fetch(`${first.url}/api/fleet`)).text()
  await becomes(t, fleet, /"device":"porch"/, 'the live state has the device')
})

t.test('a kill of all but the broker and the loss of QuestDB lose nothing: the topic is sent again', async t => {
  const minutes = Array.from({ length: 500 }, (_, minute) => minute)
  const rows = minutes.map(minute => `${Date.UTC(2026, 0, 1) + minute * 60_000},porch,${minute % 40},50,1000`)
  await first.import(`timestamp,device,temperature,humidity,pressure\n${rows.join('\n')}`)
  t.equal(await put(first, 23), 200)
  await first.killAll()
  loseQuestdb()
  const second = await again()
  t.equal(await put(second, 24), 200)
  await becomes(t, () => temperatures(second), '20,21,22,23,24', 'all are shown')
  const ofDay = 'start=2026-01-01T00:00:00Z&end=2026-01-01T23:59:59Z'
  t.equal(await temperatures(second, ofDay), minutes.map(minute => minute % 40).join())
  t.match(second.output(), /replaying the topic/)
  t.equal(await second.end('SIGTERM'), 0)
})

t.test('where the topic no longer has what QuestDB lacks nothing is read or forwarded, and it is said', async t => {
  // As the retention of the topic does.
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...kafka.addresses] })
  await admin.deleteRecords({ topics: [{ name: topics.readings, partitions: [{ partition: 0, offset: 1n }] }] })
  await admin.close()
  loseQuestdb()
  const lost = await again()
  const isSaid = async () =>
    (await (await fetch(`${lost.url}/health/ready`)).text()).includes('lacks readings that were received from')
  await waitFor('it is said', isSaid)
  t.equal(await temperatures(lost), '503')
  await waitFor('the forwarder stands still', () => /nothing is forwarded/.test(lost.output()))
})
