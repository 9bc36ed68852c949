/** Leases of nodes by two clocks, and the leader election. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import t, { test } from 'tap'
import { Lease } from '../../../auth/nodes/leadership.ts'
import { createOwnState } from '../../../auth/nodes/node-states.ts'
import { createBarrier, type Nodes } from '../../../auth/nodes/nodes.ts'
import { clockFault, createClockLog, ForwardStep, PostgresClock } from '../../../auth/nodes/postgres-clock.ts'
import type { Log } from '../../../store/log.ts'
import { inTransaction } from '../../../store/postgres/transaction.ts'
import { nowhere, startDatabases } from '../../support/databases.ts'
import { openNode } from '../../support/registries.ts'
import { waitFor } from '../../support/wait-for.ts'

const { store } = await startDatabases(t, nowhere)
const pool = store.postgres
const nodes = [await openNode(t, store), await openNode(t, store), await openNode(t, store)].map(node => node.nodes)

const leaders = (): Nodes[] => nodes.filter(node => node.leads())
/** At most one node may lead at any time. */
let leadersMax = 0
const looking = setInterval(() => {
  leadersMax = Math.max(leadersMax, leaders().length)
}, 1)
t.teardown(() => clearInterval(looking))

async function leaderBut(node: Nodes | undefined): Promise<Nodes> {
  await waitFor('another node leads', () => leaders().some(leader => leader !== node))
  return leaders()[0] as Nodes
}

const shown = async () =>
  (await pool.query<{ count: number }>('SELECT count(leads_since)::int AS count FROM nodes')).rows[0]?.count

t.test('PostgreSQL shows the one of several nodes that leads', async t => {
  await leaderBut(undefined)
  t.equal(await shown(), 1)
})

t.test('a closed node passes the lead to another', async t => {
  const first = await leaderBut(undefined)
  await first.close()
  t.equal(first.leads(), false)
  await leaderBut(first)
  t.equal(await shown(), 1)
})

t.test('a node whose session has ended stops leading, until its next election', async t => {
  const first = await leaderBut(undefined)
  const { rows } = await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND classid::int = 1650553455 AND objid::bigint = 1818583396 AND granted`,
  )
  t.equal(rows.length, 1)
  await waitFor('it has noticed', () => !first.leads())
  await leaderBut(undefined)
  t.equal(await shown(), 1)
})

t.test('a transaction needs the lead and blocks other leaders', async t => {
  const first = await leaderBut(undefined)
  const other = nodes.find(node => node !== first && node.fault() === undefined)
  const refused = inTransaction(pool, { stepMs: 4_000 }, async transaction => await other?.requireLead(transaction))
  await t.rejects(refused, { message: 'another node leads' })
  await inTransaction(pool, { stepMs: 4_000 }, async transaction => {
    await first.requireLead(transaction)
    const closed = first.close()
    await waitFor('it is not shown to lead', async () => (await shown()) === 0)
    await sleep(1_000)
    t.equal(await shown(), 0, 'no node is shown to lead')
    t.equal(leaders().length, 0)
    await closed
  })
  await leaderBut(first)
})

t.test('a node without a lease passes the lead to another', async t => {
  for (const node of nodes) await node.close()
  const add = async (leaseMs: number) => {
    const { nodes: node } = await openNode(t, store, { leaseMs })
    nodes.push(node)
    return node
  }
  const short = await add(1_500)
  t.equal(await leaderBut(undefined), short)
  const long = await add(60_000)
  const blocker = await store.connectPostgres()
  t.teardown(() => blocker.end())
  await blocker.query('BEGIN; LOCK TABLE feed_head IN ACCESS EXCLUSIVE MODE')
  await waitFor('its lease is over', () => short.fault() !== undefined)
  t.equal(short.leads(), false)
  t.equal(await leaderBut(short), long)
  await blocker.query('ROLLBACK')
})

t.test('at most one node leads at any time', async t => {
  t.equal(leadersMax, 1)
})

test('a lease ends by the monotonic clock and by the wall clock', async t => {
  let wallMs = 1_000_000
  const lease = new Lease(60_000, () => wallMs)
  t.equal(lease.isValid(), false, 'before the first')
  const renewed = lease.begin()
  t.equal(lease.isValid(), false, 'before it was renewed')
  renewed()
  t.equal(lease.isValid(), true)
  wallMs += 59_999
  t.equal(lease.isValid(), true)
  wallMs += 1
  t.equal(lease.isValid(), false, 'a machine that was suspended')
  const short = new Lease(0, () => wallMs)
  short.begin()()
  t.equal(short.isValid(), false)
})

test('only a lease renewed after its end, by either clock, has a new term', async t => {
  let wallMs = 1_000_000
  const lease = new Lease(60_000, () => wallMs)
  const before = lease.term()
  lease.begin()()
  const first = lease.term()
  t.ok(first > before)
  for (let i = 0; i < 3; i++) {
    wallMs += 59_999
    lease.begin()()
  }
  t.equal(lease.term(), first, 'it was renewed in time')

  wallMs += 59_000
  const late = lease.begin()
  wallMs += 1_000
  t.equal(lease.term(), first, 'nothing is let in without a lease, so there is no other term either')
  late()
  const second = lease.term()
  t.ok(second > first, 'it ended while the renewal was under way')

  lease.end()
  lease.begin()()
  t.ok(lease.term() > second, 'it was given up')
})

test("a step of PostgreSQL's clock is known for the length of a lease", async t => {
  let nowMs = 0
  const step = new ForwardStep(60_000, () => nowMs)
  step.note(0, 1_000_000)
  nowMs = 20_000
  t.equal(step.sizeMs(1_020_000), 0)
  t.equal(step.sizeMs(1_010_000), 0, 'a step back')
  t.equal(step.sizeMs(1_320_000), 300_000)
  for (nowMs = 21_000; nowMs < 79_000; nowMs += 1_000) step.note(nowMs, 1_300_000 + nowMs)
  t.equal(step.sizeMs(1_300_000 + nowMs), 300_000, 'also after it was noted')
  for (; nowMs < 200_000; nowMs += 1_000) step.note(nowMs, 1_300_000 + nowMs)
  t.equal(step.sizeMs(1_300_000 + nowMs), 0)
  const renewed = new ForwardStep(60_000, () => 0)
  const log = { info: () => {}, warn: () => {} }
  const node = { id: 'own', role: 'api', version: '1', host: 'here', settings: {}, advised: {} }
  const own = createOwnState({ node, lease: new Lease(60_000), clock: new PostgresClock(), step: renewed, log })
  own.renewed(0, { postgresMs: 1_000_000, others: 0, differing: [] })
  t.equal(renewed.sizeMs(1_300_000), 300_000, 'each renewal of a lease notes the clock')
})

test("a step of PostgreSQL's clock ends no lease early", async t => {
  // The lease of a node that is behind ends 30 s after the clock is read.
  const wallMs = Date.now()
  const step = new ForwardStep(60_000)
  step.note(performance.now(), wallMs)
  let applied = 0
  const asked: number[] = []
  const query = async (_: unknown, __?: unknown) => {
    const { values } = _ as { values: [string, number | null, number] }
    asked.push(Math.round(values[2] / 1000))
    if (asked.length === 4) applied = 7
    const postgresMs = wallMs + 300_000
    const isValid = wallMs + 30_000 > postgresMs - values[2]
    return { rows: [{ seq: 7, count: isValid && applied < 7 ? 1 : 0, postgresMs }] }
  }
  const pool = { query } as unknown as Pick<pg.Pool, 'query'>
  const failed = (error: unknown) => t.fail(String(error))
  await createBarrier({ pool, id: 'own', leaseMs: 60_000, step, failed })()
  t.strictSame([applied, asked[0], asked.length], [7, 0, 4])
  t.ok((asked[1] as number) >= 299)
})

test('a clock that is a second off is logged once, with its direction, and again when it is right', async t => {
  for (const aheadMs of [undefined, 1_000, -1_000]) t.equal(clockFault(aheadMs), undefined)
  t.equal(clockFault(1_240), "the clock of this node is 1.2 s ahead of PostgreSQL's clock")
  t.equal(clockFault(-61_000), "the clock of this node is 61.0 s behind PostgreSQL's clock")
  const texts: string[] = []
  const record = (level: string) => (_: object, text?: string) => void texts.push(`${level} ${text}`)
  const note = createClockLog({ warn: record('warn'), info: record('info') } as Log)
  for (const aheadMs of [undefined, 10, 5_000, 6_000, undefined, 20, -2_000]) note(aheadMs)
  t.strictSame(texts, [
    "warn the clock of this node is 5.0 s ahead of PostgreSQL's clock",
    "info the clock of this node agrees with PostgreSQL's clock",
    "warn the clock of this node is 2.0 s behind PostgreSQL's clock",
  ])
})
