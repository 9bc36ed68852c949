/** Published states of forwarders, read from a real PostgreSQL: by notifications, without them, and over cut connections. */

import pg from 'pg'
import t from 'tap'
import { type PublishedState, publishedChannel } from '../../ingest/kafka/state/forward-status.ts'
import { createReplicaStateReader, type ReplicaStateReaderOptions } from '../../ingest/kafka/state/reader.ts'
import { recordingLog, sharedPostgres, silentLog, type TestHooks } from '../support/databases.ts'
import { openGate } from '../support/pg-gate.ts'
import { waitFor } from '../support/wait-for.ts'

const { store } = await sharedPostgres(t)
const pool = store.postgres
await pool.query('CREATE TABLE published (topic text PRIMARY KEY, state json)')
const { user = '', password, host = '', port = 0, database = '' } = pool.options
const gate = await openGate(t, { host, port, user, password: String(password), database })

const stateOf = (applied: number): PublishedState => {
  return { tenure: 1, losses: 0, committed: 0, applied, sequenced: undefined }
}

async function publish(topic: string, applied: number, isNotified: boolean): Promise<void> {
  await pool.query('INSERT INTO published VALUES ($1, $2) ON CONFLICT (topic) DO UPDATE SET state = excluded.state', [
    topic,
    stateOf(applied),
  ])
  if (isNotified) await pool.query(`NOTIFY ${publishedChannel}`)
}

function open(t: TestHooks, options: Partial<ReplicaStateReaderOptions<PublishedState>> = {}) {
  const counted = { reads: 0 }
  const reader = createReplicaStateReader({
    async connect() {
      const client = new pg.Client({ ...gate.address, application_name: 'reader of published states' })
      client.on('error', () => undefined)
      await client.connect()
      return client
    },
    async read(client) {
      counted.reads++
      const query = { text: 'SELECT topic, state FROM published', query_timeout: 1000 } as pg.QueryConfig
      const { rows } = await client.query<{ topic: string; state: PublishedState }>(query)
      return new Map(rows.map(({ topic, state }) => [topic, { ...state, sequenced: state.sequenced }]))
    },
    log: silentLog,
    onFatal: error => {
      throw error
    },
    ...options,
  })
  t.teardown(() => reader.close())
  const seen: number[] = []
  reader.onState('readings', ({ applied }) => void seen.push(applied))
  return { reader, seen, counted }
}

t.test('each state is reported once, and the last one to a later listener', async t => {
  await publish('readings', 1, false)
  await publish('points', 5, false)
  const { reader, seen, counted } = open(t, { pollMs: 10 })
  t.equal(reader.ageMs(), Number.POSITIVE_INFINITY)
  await waitFor('it is read some times', () => counted.reads > 3)
  await publish('readings', 2, false)
  await waitFor('the next one is read', () => seen.length > 1)
  t.strictSame(seen, [1, 2])
  const later: number[] = []
  reader.onState('points', ({ applied }) => void later.push(applied))
  t.strictSame(later, [5])
})

t.test('a notification is enough', async t => {
  const { seen } = open(t, { pollMs: 10 * 60_000 })
  await waitFor('it is read', () => seen.length > 0)
  for (const applied of [11, 12, 13]) {
    await publish('readings', applied, true)
    await waitFor(`${applied} is read`, () => seen.at(-1) === applied)
  }
})

t.test('a cut connection is reopened with its notifications', async t => {
  const { log, texts } = recordingLog('warn')
  const { seen } = open(t, { pollMs: 10 * 60_000, log })
  await waitFor('it is read', () => seen.length > 0)
  // This state has no notification, so that it is read after the cut.
  await publish('readings', 21, false)
  await pool.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reader of published states'",
  )
  await waitFor('it is read after the cut', () => seen.at(-1) === 21)
  await publish('readings', 22, true)
  await waitFor('it is notified after the cut', () => seen.at(-1) === 22)
  // A slow machine may cause another message.
  t.equal(new Set(texts).size, 1)
})

t.test('while PostgreSQL is away the last state stays and grows old', async t => {
  const { log, texts } = recordingLog('warn')
  const { reader, seen } = open(t, { pollMs: 10, log })
  await waitFor('it is read', () => seen.length > 0)
  await gate.shut()
  await publish('readings', 31, true)
  await waitFor('it grows old', () => reader.ageMs() > 300)
  t.match(reader.issue(), /./)
  t.not(seen.at(-1), 31)
  await gate.open()
  await waitFor('it is read again', () => seen.at(-1) === 31)
  t.equal(reader.issue(), undefined)
  // A slow machine may cause another message.
  t.equal(new Set(texts).size, 1)
})
