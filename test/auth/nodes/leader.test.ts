/** Which node leads, on a real PostgreSQL. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { Nodes } from '../../../auth/nodes/nodes.ts'
import { inTransaction } from '../../../store/postgres/transaction.ts'
import { nowhere, startDatabases } from '../../support/databases.ts'
import { openNode } from '../../support/registries.ts'
import { waitFor } from '../../support/wait-for.ts'

const { store } = await startDatabases(t, nowhere)
const pool = store.postgres
const nodes = [await openNode(t, store), await openNode(t, store), await openNode(t, store)].map(node => node.nodes)

const leaders = (): Nodes[] => nodes.filter(node => node.leads())
/** Never more than one node should lead at one moment. */
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

t.test('of several nodes one leads, and PostgreSQL shows it', async t => {
  await leaderBut(undefined)
  t.equal(await shown(), 1)
})

t.test('a node that is closed leaves the lead to another', async t => {
  const first = await leaderBut(undefined)
  await first.close()
  t.equal(first.leads(), false)
  await leaderBut(first)
  t.equal(await shown(), 1)
})

t.test('a node whose session has ended leads no more, until it is its turn again', async t => {
  const first = await leaderBut(undefined)
  const { rows } = await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND classid::int = 1650553455 AND objid::bigint = 1818583396 AND granted`,
  )
  t.equal(rows.length, 1)
  await waitFor('it has heard so', () => !first.leads())
  await leaderBut(undefined)
  t.equal(await shown(), 1)
})

t.test('a transaction of the leader keeps others from the lead, and one of another node is refused', async t => {
  const first = await leaderBut(undefined)
  const other = nodes.find(node => node !== first && node.fault() === undefined)
  const refused = inTransaction(pool, { stepMs: 4_000 }, async transaction => await other?.requireLead(transaction))
  await t.rejects(refused, { message: 'another node leads' })
  await inTransaction(pool, { stepMs: 4_000 }, async transaction => {
    await first.requireLead(transaction)
    const closed = first.close()
    await waitFor('it is not shown to lead', async () => (await shown()) === 0)
    await sleep(1_000)
    t.equal(await shown(), 0, 'nobody is shown to lead')
    t.equal(leaders().length, 0)
    await closed
  })
  await leaderBut(first)
})

t.test('a node without a lease leaves the lead to another', async t => {
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

t.test('never two at once', async t => {
  t.equal(leadersMax, 1)
})
