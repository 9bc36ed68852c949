/** Several processes append to topics of one broker: late appends of a frozen process, and the return to journals on disk. */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { groupHeaderLength } from '../../ingest/journal/group.ts'
import { createStoredListeners } from '../../ingest/journal/stored-records.ts'
import { topicsOf } from '../../ingest/kafka/client/names.ts'
import { prepareTopic } from '../../ingest/kafka/client/prepare.ts'
import { silentLog } from '../support/databases.ts'
import { freezeProcess } from '../support/frozen.ts'
import { startKafka } from '../support/kafka.ts'
import { openCluster } from '../support/nodes.ts'
import { until } from '../support/processes.ts'
import { type Service, startService, withoutQuestdb } from '../support/service.ts'

const kafka = await startKafka(t)
const [broker] = kafka.brokers
if (broker === undefined) throw new Error('there is a broker')
const topics = topicsOf('barograph-')
const client = await kafka.connect()
const requirements = { replication: 1, retentionMs: 24 * 3_600_000 }
for (const topic of Object.values(topics)) await prepareTopic(client.admin, topic, { requirements, apply: false })
const cluster = await openCluster(t, {
  command: [process.execPath, 'service/main.ts', '--role', 'api'],
  environment: {
    KAFKA_BROKERS: kafka.addresses.join(),
    KAFKA_REPLICATION: '1',
    KAFKA_RETENTION_HOURS: '24',
    DEVICE_RATE: '100000',
  },
})
const [one, other] = await Promise.all([cluster.start(), cluster.start()])
const password = await one.addDevice('porch')

const send = async ({ put }: Service, temperature: number, secret = password) =>
  (await put('porch', secret, { device: 'porch', temperature, humidity: 50, pressure: 1000 })).status

async function temperaturesInTopic(): Promise<number[]> {
  const partition = await client.partition(topics.readings)
  const temperatures: number[] = []
  const listeners = createStoredListeners(silentLog)
  listeners.add(records => {
    while (records.next()) temperatures.push(records.value(0))
  })
  const { start, end } = await partition.offsets()
  for (let offset = start; offset < end; ) {
    const { records, nextOffset } = await partition.fetch(offset, 1 << 20, 1000)
    for (const { value } of records) {
      const view = new DataView(value.buffer, value.byteOffset, value.length)
      listeners.notify(view, groupHeaderLength, value.length, view.getUint32(12, true))
    }
    offset = nextOffset
  }
  await partition.close()
  return temperatures
}

t.test('a request accepted before a freeze is not stored after the device was revoked', async t => {
  await broker.kill()
  const sending = send(other, 40)
  // Its thread connects to a broker.
  await sleep(300)
  freezeProcess(other.child.pid ?? 0)
  t.teardown(() => other.child.kill('SIGCONT'))
  const queued = send(other, 41)
  const rotated = await one.admin('POST', '/devices/porch/rotate?now=1')
  t.equal(rotated.status, 200)
  const next = (rotated.body as { password: string }).password
  await broker.start()
  other.child.kill('SIGCONT')
  // On a slow machine the request may have arrived after the revocation.
  t.not(await sending, 200)
  t.not(await queued, 200)
  await until('the process takes readings again', async () => (await send(other, 30, next)) === 200)
  t.equal(await send(other, 39), 401)
  t.strictSame(
    (await temperaturesInTopic()).filter(temperature => temperature > 39),
    [],
  )
})

t.test('a service that returns to journals on disk continues above the assigned times', async t => {
  for (const node of [one, other]) t.equal(await node.end('SIGTERM'), 0)
  const database = new pg.Client({ connectionString: cluster.postgres.url })
  await database.connect()
  // The state after clocks that were two hours ahead.
  await database.query('UPDATE stamp_classes SET bound_us = $1', [(Date.now() + 7_200_000) * 1000])
  await database.end()
  const alone = await startService(t, { environment: { ...withoutQuestdb, DATABASE_URL: cluster.postgres.url } })
  const secret = await alone.addDevice('cellar')
  const reading = { device: 'cellar', temperature: 1, humidity: 50, pressure: 1000 }
  t.equal((await alone.put('cellar', secret, reading)).status, 200)
  const ready = await (await fetch(`${alone.url}/health/ready`)).text()
  t.match(ready, /the newest stamp of readings is (7[012]|6\d)\d\d s ahead of the clock/)
})
