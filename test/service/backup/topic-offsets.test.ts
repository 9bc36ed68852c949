/** The wait of a backup of replicas, and the offsets to send again, with a QuestDB without sync. */

import t from 'tap'
import { statusBefore } from '../../../ingest/forwarder/forwarder-status.ts'
import type { ForwardStatus } from '../../../ingest/kafka/state/forward-status.ts'
import { untilApplied } from '../../../service/backup/topic-offsets.ts'
import { nowhere, startDatabases } from '../../support/databases.ts'
import { createTopics } from '../../support/replica-topics.ts'

const { store } = await startDatabases(t, nowhere)
const { openTopic } = createTopics(store.postgres)
const client = await store.connectPostgres()
t.teardown(() => client.end())

const published = (applied: number, losses: number): ForwardStatus => {
  return { tenure: 1, losses, applied, forwarder: statusBefore('it is a test') }
}
const { signal } = new AbortController()
const wait = (topic: string, end: number) => untilApplied(client, new Map([[topic, end]]), signal)

/** True if it still waits after another request. */
async function isWaiting(waiting: Promise<unknown>): Promise<boolean> {
  const passed = await Promise.race([waiting.then(() => false), client.query('SELECT pg_sleep(0.7)')])
  return passed !== false
}

t.test('a backup waits for applied rows and records the offsets to send again', async t => {
  const { topic, state } = await openTopic()
  const waiting = wait(topic, 9)
  await state.commit(topic, 2, [], { ...published(8, 0), appliedBefore: 9 })
  t.ok(await isWaiting(waiting))
  await state.commit(topic, 2, [], published(9, 0))
  const { offsets, assertKept } = await waiting
  t.strictSame(offsets, [{ name: topic, offset: 2 }])
  await state.publish(topic, published(12, 0))
  await t.resolves(assertKept())
  await state.publish(topic, published(2, 1))
  await t.rejects(assertKept(), { name: 'BackupError', message: `The records of topic ${topic} were sent again` })
})

t.test('committed letters survive a repeated forwarding', async t => {
  const { topic, state } = await openTopic()
  await state.commit(topic, 9, [], published(9, 0))
  const { assertKept } = await wait(topic, 9)
  await state.publish(topic, published(9, 1))
  await t.resolves(assertKept())
})

t.test('a topic that was never forwarded, and one without records', async t => {
  const { topic } = await openTopic()
  const { offsets } = await wait(topic, 0)
  t.strictSame(offsets, [{ name: topic, offset: 0 }])
  await client.query(
    'INSERT INTO replica_topics (topic, rewind_to) VALUES ($1, 5) ON CONFLICT (topic) DO UPDATE SET rewind_to = 5',
    [topic],
  )
  t.strictSame((await wait(topic, 0)).offsets, [{ name: topic, offset: 0 }], 'a rewind leaves nothing out')
  const stopping = new AbortController()
  const waiting = untilApplied(client, new Map([[topic, 1]]), stopping.signal)
  stopping.abort()
  await t.rejects(waiting, { name: 'AbortError' })
})
