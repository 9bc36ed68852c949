/** Leases, the feed, the barrier and notices of sessions on a real PostgreSQL. */

import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { NewDevice } from '../../../auth/devices/device.ts'
import { countBehind } from '../../../auth/nodes/node-rows.ts'
import { PostgresClock } from '../../../auth/nodes/postgres-clock.ts'
import { openSessionNotices, sessionChannel } from '../../../auth/nodes/session-notices.ts'
import { differentSettings } from '../../../auth/nodes/settings-differ.ts'
import { endNodeEpoch } from '../../../store/postgres/database-lock.ts'
import { addDeviceTo } from '../../support/changed.ts'
import { closing, nowhere, recordingLog, silentLog, startDatabases } from '../../support/databases.ts'
import { openNode, openRegistries, type TestNode } from '../../support/registries.ts'
import { waitFor } from '../../support/wait-for.ts'

const { store } = await startDatabases(t, nowhere)
const pool = store.postgres
const expired = { message: 'the lease of this node has expired' }

const addDevice = ({ devices }: Pick<TestNode, 'devices'>, name: string) => addDeviceTo(devices, name)

/** Adds a node without a process, whose lease ends after an interval. */
const insertNode = (lease: string, id = randomUUID(), applied = 0) =>
  pool.query(
    `INSERT INTO nodes (id, role, version, applied, expires_at, settings)
     VALUES ($1, 'api', '0', $3, clock_timestamp() + $2::interval, '{}')`,
    [id, lease, applied],
  )

/** Locks by these statements until the returned function is called. */
async function block(t: Test, text: string): Promise<() => Promise<unknown>> {
  const blocker = await store.connectPostgres()
  t.teardown(() => blocker.end())
  await blocker.query(text)
  return () => blocker.query('ROLLBACK')
}

const seqs = async () =>
  (await pool.query<{ seq: number }>('SELECT seq::int AS seq FROM feed ORDER BY seq')).rows.map(({ seq }) => seq)
const headSeq = async () =>
  (await pool.query<{ seq: number }>('SELECT seq::int AS seq FROM feed_head')).rows[0]?.seq ?? 0
const open = (t: Test, leaseMs?: number) => openNode(t, store, leaseMs === undefined ? {} : { leaseMs })

t.test('a single node writes nothing to the feed', async t => {
  const alone = closing(t, await openRegistries(pool))
  await addDevice(alone, 'alone')
  t.equal(await headSeq(), 0)
  t.strictSame(await seqs(), [])
})

t.test('feed numbers have no gaps: a rolled-back change takes none', async t => {
  const node = await open(t)
  const before = await headSeq()
  await addDevice(node, 'first')
  t.match(await node.devices.add([NewDevice.parse({ name: 'x', owner: 999_999 })], 'test'), { code: 'OWNER_UNKNOWN' })
  const failing = node.nodes.feed.commit({ pool, stepMs: 4_000 }, async transaction => {
    node.nodes.feed.note(transaction, 'station')
    throw new Error('given up')
  })
  await t.rejects(failing, { message: 'given up' })
  await Promise.all(Array.from({ length: 20 }, (_, at) => addDevice(node, `many-${at}`)))
  const all = await seqs()
  t.equal(all.length, before + 21)
  const counted = all.map((_, at) => at + 1)
  t.strictSame(all, counted)
  t.equal(await headSeq(), all.length)
})

t.test('a decoder is effective at each node when its change returns', async t => {
  const [one, other] = [await open(t), await open(t)]
  const decode = () => other.decoders.ofTopic('garden/bed')?.decode({ topic: 'garden/bed', body: { temperature: 1 } })
  const declaration = { topics: ['garden/+'], device: ['bed'] }
  await one.decoders.add({ name: 'garden', ...declaration }, 'test')
  t.match(decode(), { readings: [{ device: 'bed' }] })
  await one.decoders.change('garden', { ...declaration, device: ['north'] }, 'test')
  t.match(decode(), { readings: [{ device: 'north' }] })
  await one.decoders.remove('garden', 'test')
  t.equal(decode(), undefined)
})

t.test('a change waits for a node that does not apply it, at most for its lease', async t => {
  const node = await open(t, 4_000)
  const id = randomUUID()
  await insertNode('1 hour', id)
  const startMs = performance.now()
  await addDevice(node, 'slow')
  t.ok(performance.now() - startMs >= 3_999, 'one that claims a longer lease than there is')
  await pool.query('UPDATE nodes SET expires_at = clock_timestamp() WHERE id = $1', [id])
})

t.test('a change waits for a lease that a step of the clock may have ended', async t => {
  const id = randomUUID()
  await insertNode('-1 hour', id, -1)
  t.teardown(() => pool.query('DELETE FROM nodes WHERE id = $1', [id]))
  const behind = async (steppedMs: number) => (await countBehind(pool, randomUUID(), 0, steppedMs)).count
  const hourMs = 3_600_000
  t.equal(await behind(2 * hourMs), (await behind(0)) + 1)
  t.equal(await behind(hourMs / 2), await behind(0))
})

t.test('a node without a lease rejects all requests until it has a lease again', async t => {
  const node = await open(t, 4_000)
  const password = await addDevice(node, 'kitchen')
  const check = node.devices.credentialCheck({ number: node.devices.get('kitchen')?.number ?? 0 }, password)
  const unblock = await block(t, 'BEGIN; LOCK TABLE nodes IN ACCESS EXCLUSIVE MODE')
  await waitFor('the lease is over', () => !node.devices.isCurrent())
  t.throws(() => node.devices.authenticate('kitchen', password), expired)
  t.throws(check, expired)
  await t.rejects(node.accounts.find(1), expired)
  await t.rejects(node.stations.registry(), expired)
  t.match(node.nodes.fault(), /^the lease of this node has expired: /)
  await unblock()
  await waitFor('it is back', () => node.devices.isCurrent())
  t.equal(node.devices.authenticate('kitchen', password)?.name, 'kitchen')
  t.equal(node.nodes.fault(), undefined)
})

t.test('a node whose connection breaks during its join retries with another one', async t => {
  // The connection breaks at the first statement of each kind.
  const moments = ['pg_advisory_xact_lock($1', 'INSERT INTO nodes', 'COMMIT']
  async function connectPostgres() {
    const client = await store.connectPostgres()
    const query = client.query.bind(client) as (given: { text: string }) => Promise<{ rows: { pid: number }[] }>
    return Object.assign(client, {
      async query(given: { text: string }) {
        const at = moments.findIndex(text => given.text.includes(text))
        if (at < 0) return await query(given)
        moments.splice(at, 1)
        const [own] = (await query({ text: 'SELECT pg_backend_pid() AS pid' })).rows
        await pool.query('SELECT pg_terminate_backend($1, 5000)', [own?.pid])
        return await query(given)
      },
    } as object)
  }
  const node = await openNode(t, { postgres: pool, connectPostgres })
  t.strictSame(moments, [])
  t.equal(node.devices.isCurrent(), true)
  t.strictSame(node.fatal, [])
})

t.test('a permanent error of PostgreSQL stops the join', async t => {
  await pool.query('ALTER TABLE nodes RENAME TO other_nodes')
  t.teardown(() => pool.query('ALTER TABLE other_nodes RENAME TO nodes'))
  await t.rejects(open(t), /relation "nodes" does not exist/)
})

t.test('a transaction that hangs before its commit does not block the leases of others', async t => {
  const node = await open(t, 8_000)
  const hanging = node.nodes.feed.commit({ pool, stepMs: 4_000 }, async transaction => {
    node.nodes.feed.note(transaction, 'station')
    // This is the last statement of `commit`, without a COMMIT.
    await transaction.query(
      "UPDATE feed_head SET seq = seq + 1; SELECT set_config('idle_in_transaction_session_timeout', '1000', true)",
    )
    await new Promise(resolve => setTimeout(resolve, 7_000))
  })
  const lost: string[] = []
  const looked = setInterval(() => node.devices.isCurrent() || lost.push('lost'), 20)
  await t.rejects(hanging)
  clearInterval(looked)
  t.strictSame(lost, [])
})

t.test('a node that finds another database, or its missing changes deleted, stops', async t => {
  const restored = await open(t, 600)
  await endNodeEpoch(pool)
  await waitFor('it says so', () => restored.fatal.length > 0)
  t.match(
    restored.fatal[0]?.message,
    /was restored from a backup, or used by a service other than a node: restart this node/,
  )
  const late = await open(t, 600)
  await pool.query('UPDATE feed_head SET seq = seq + 5')
  await waitFor('it says so', () => late.fatal.length > 0)
  t.match(late.fatal[0]?.message, /disconnected from PostgreSQL for longer/)
})

t.test('each node knows the number of api nodes, and the states of all', async t => {
  await pool.query('DELETE FROM nodes')
  const one = await open(t)
  t.equal(one.nodes.count(), 1)
  const other = await open(t)
  t.equal(other.nodes.count(), 2, 'from its first lease on')
  await waitFor('the first node counts two', () => one.nodes.count() === 2)
  const states = await other.nodes.states()
  const second = states[1]
  t.match(states, { length: 2, 0: { id: one.nodes.own().id }, 1: { id: other.nodes.own().id } })
  t.match(second, { role: 'api', version: '0', host: 'test', isLeaseValid: true, leads: false })
  t.ok((second?.leaseAgeMs ?? -1) >= 0 && (second?.leaseAgeMs ?? 60_000) < 60_000)
  t.equal(other.nodes.own().applied, await headSeq())
  await waitFor('the clock is known', async () => (await one.nodes.states())[1]?.clockAheadMs !== undefined)
  await addDevice(one, 'counted')
  // A node's row shows its applied changes after the next renewal.
  await waitFor('both have applied it', async () => {
    const states = await other.nodes.states()
    return states.every(({ applied }) => applied === other.nodes.own().applied)
  })
  await other.nodes.close()
  await waitFor('the first node counts one', () => one.nodes.count() === 1)
  t.equal((await one.nodes.states()).length, 1, 'one that has given its lease up')
  for (const lease of ['-1 minute', '-11 minutes']) await insertNode(lease)
  const gone = (await one.nodes.states()).filter(({ isLeaseValid }) => !isLeaseValid)
  t.equal(gone.length, 1, 'one that has ended without a word, for ten minutes')
  const goneSeconds = Math.round((gone[0]?.leaseAgeMs ?? 0) / 1000)
  t.ok(goneSeconds >= 120 && goneSeconds < 180, `since it was renewed: ${goneSeconds} s`)
})

t.test('while PostgreSQL does not respond a node reports only its own state', async t => {
  const node = await open(t, 1_000)
  await pool.query('ALTER TABLE nodes RENAME TO hidden')
  t.teardown(() => pool.query('ALTER TABLE hidden RENAME TO nodes'))
  t.match(await node.nodes.states(), { length: 1, 0: { id: node.nodes.own().id } })
})

t.test('the clock of PostgreSQL is read from the fastest response of the last minute', async t => {
  let nowMs = 0
  const clock = new PostgresClock(() => nowMs)
  t.equal(clock.nowMs(), undefined)
  for (const [now, asked, postgres, expected] of [
    [1_000, 990, 50_000, 50_005],
    [2_000, 1_000, 60_000, 51_005],
    [2_000, 1_998, 51_000, 51_001],
    [62_000, 61_000, 120_000, 120_500],
  ] as const) {
    nowMs = now
    clock.note(asked, postgres)
    t.equal(clock.nowMs(), expected)
  }
})

t.test('a node with different settings is rejected, with their names', async t => {
  const [same, other] = [
    { A: '1', B: '2' },
    { A: '2', B: '2', C: '3' },
  ]
  t.strictSame(differentSettings({ B: '2', A: '1' }, [same]), [])
  t.strictSame(differentSettings({ B: '2', A: '1' }, [same, other]), ['A', 'C'])
  const node = await openNode(t, store, { settings: { READS: 'a' } })
  const message =
    'Other nodes on this PostgreSQL have other values of READS: give all nodes the same, or stop the others first.'
  await t.rejects(openNode(t, store, { settings: { READS: 'b' } }), { message })
  await node.nodes.close()
  t.equal(node.devices.isCurrent(), false, 'a lease that was given up')
  await openNode(t, store, { settings: { READS: 'b' } })
})

t.test('exclusive access to the database waits until the last lease is over', async t => {
  const node = await open(t, 4_000)
  t.equal(node.devices.isCurrent(), true)
  await endNodeEpoch(pool)
  t.equal(node.devices.isCurrent(), false)
})

const secret = 's'.repeat(64)

/** Opens a node and collects the notices from others. */
async function openListening(t: Test) {
  const { nodes } = await openNode(t, store, { sessionSecret: secret })
  const received: [name: string, agoMs: number][] = []
  const { sessions } = nodes
  if (sessions === undefined) throw new Error('a node with a secret sends notices of sessions')
  sessions.onBegun((name, agoMs) => void received.push([name, agoMs]))
  return { sessions, received }
}

async function listen(t: Test): Promise<string[]> {
  const payloads: string[] = []
  const client = await store.connectPostgres()
  t.teardown(() => client.end())
  client.on('notification', ({ payload = '' }) => void payloads.push(payload))
  await client.query(`LISTEN ${sessionChannel}`)
  return payloads
}

t.test('the other nodes get a notice of a new session, with its age and without its name', async t => {
  await pool.query('DELETE FROM nodes')
  const alone = await openListening(t)
  const payloads = await listen(t)
  alone.sessions.begun(alone.sessions.nameOf('nobody listens'))
  const [one, other] = [await openListening(t), await openListening(t)]
  const name = one.sessions.nameOf('device 7 porch')
  t.match(name, /^[\w-]{22}$/)
  t.equal(other.sessions.nameOf('device 7 porch'), name, 'the same at each node')
  t.not(one.sessions.nameOf('device 8 porch'), name)
  one.sessions.begun(name)
  await waitFor('all have received it', () =>
    [other.received, alone.received, payloads].every(({ length }) => length > 0),
  )
  t.equal(other.received[0]?.[0], name)
  // PostgreSQL's clock is known to half of a round trip.
  t.ok((other.received[0]?.[1] ?? -10_000) > -1_000)
  t.strictSame(one.received, [], 'the sender gets no notice')
  t.equal(payloads.length, 1, 'a node that was alone has sent none')
  t.notMatch(payloads[0], /porch|device/)
})

t.test('notices of a thousand sessions take few payloads, in at most ten statements a second', async t => {
  const [other, one] = [await openListening(t), await openListening(t)]
  const payloads = await listen(t)
  for (let at = 0; at < 1_000; at++) one.sessions.begun(one.sessions.nameOf(String(at)))
  one.sessions.begun(one.sessions.nameOf('0'))
  await waitFor('all are received', () => other.received.length === 1_000)
  t.strictSame(new Set(other.received.map(([name]) => name)).size, 1_000)
  await waitFor('the last one has come', () => payloads.length >= 5)
  t.equal(payloads.length, 5)
  t.ok(payloads.every(payload => payload.length < 8_000))
})

t.test('notices over the limit are dropped, with one line in the log', async t => {
  const { log, texts } = recordingLog('warn')
  const clock = new PostgresClock()
  clock.note(performance.now(), Date.now())
  const failing = { query: async () => Promise.reject(new Error('away')) }
  const options = { id: 'one', secret, clock, others: () => 1, log, pauseMs: 1 }
  const notices = openSessionNotices({ ...options, pool: failing as never })
  if (notices === undefined) throw new Error('it has a secret')
  t.teardown(() => notices.close())
  for (let at = 0; at < 20_010; at++) notices.begun(String(at))
  t.equal(texts.length, 1)
  await waitFor('all were tried', async () => true)
  t.strictSame(texts, ['cannot report new sessions to other nodes'])
})

t.test('payloads of another form are ignored', async t => {
  const clock = new PostgresClock()
  const notices = openSessionNotices({ pool, id: 'one', secret, clock, others: () => 1, log: silentLog })
  const received: unknown[] = []
  notices?.onBegun((...notice) => void received.push(notice))
  notices?.received('other\n1000\nname 5')
  t.strictSame(received, [], 'before the clock is known')
  clock.note(performance.now(), 2_000)
  const wrong = ['', 'x', 'other\nlong ago\nname 5', 'other\n1000\nname', 'other\n1000\nname x', 'one\n1000\nname 5']
  for (const payload of wrong) notices?.received(payload)
  t.strictSame(received, [])
  notices?.received('other\n1000\nname 5')
  t.match(received, [['name', Number]])
})
