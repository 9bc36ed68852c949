/** A journal on a topic, over its own thread, while Kafka is away. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openDisk } from '../../ingest/journal/disk.ts'
import { Journal } from '../../ingest/journal/journal.ts'
import type { Outcome } from '../../ingest/journal/outcome.ts'
import { openStamper } from '../../ingest/journal/stamp-file.ts'
import { createTopicMedium } from '../../ingest/kafka/topic-medium.ts'
import { readingWriter } from '../../ingest/readings-table.ts'
import { silentLog, temporaryFolder } from '../support/databases.ts'
import { device, reading } from '../support/journal-parts.ts'
import { startKafka } from '../support/kafka.ts'
import { until } from '../support/processes.ts'

const kafka = await startKafka(t)
const [broker] = kafka.brokers
if (broker === undefined) throw new Error('no broker')
const topic = await kafka.makeTopic('journal')
const connection = { brokers: kafka.addresses, clientId: 'test', appendDeadlineMs: 200 }
const nowUs = () => Date.now() * 1000
const partition = await (await kafka.connect()).partition(topic)
let leaseLeftMs = Number.POSITIVE_INFINITY
const medium = createTopicMedium({
  connection,
  topic,
  end: 0,
  stamper: openStamper({ disk: openDisk(temporaryFolder(t)), lastStampUs: 0, nowUs, log: silentLog }),
  refusal: () => undefined,
  leaseLeftMs: () => leaseLeftMs,
  leaseTerm: () => 0,
})
const openJournal = () =>
  new Journal({
    writer: readingWriter,
    medium,
    liveWindowUs: 300_000_000,
    nowUs,
    log: silentLog,
    onFatal: error => t.fail(error.message),
  })
const journal = openJournal()
t.teardown(() => journal.close())

const append = (temperature: number) =>
  new Promise<Outcome>(resolve => journal.append(device(1), reading(temperature), resolve))

t.test('readings are taken again when Kafka is back, however long nothing was sent meanwhile', async () => {
  await until('a reading is stored', async () => (await append(1)) === 'stored')
  await broker.kill()
  // What was on its way as the broker ended has no answer; what comes later is refused.
  await until('a reading is refused', async () => (await append(2)) === 'full')
  // A thread with nothing left to wait for ends at once.
  await sleep(200)
  await broker.start()
  await until('a reading is stored again', async () => (await append(3)) === 'stored')
})

t.test('a group that is handed over without a lease is refused, and nothing of it is in the topic', async t => {
  const { end } = await partition.offsets()
  leaseLeftMs = 0
  t.equal(await append(4), 'full')
  t.match(journal.status().issue, /this node has no lease/)
  t.equal((await partition.offsets()).end, end)
  leaseLeftMs = 10_000
  await until('a reading is stored again', async () => (await append(5)) === 'stored')
  t.equal(journal.status().issue, undefined)
})

t.test('one that is closed before its thread has begun is closed', async () => {
  await openJournal().close()
})
