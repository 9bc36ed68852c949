/** Retention at two nodes on one QuestDB and one PostgreSQL: one makes days expire, the other one knows before they go. */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { NewDevice } from '../../../auth/devices/device.ts'
import { openNodes } from '../../../auth/nodes/nodes.ts'
import { openAcceptedFrom } from '../../../lifecycle/retention/accepted-from.ts'
import { listRawDays } from '../../../lifecycle/retention/expired-days.ts'
import { dayMs } from '../../../lifecycle/retention/horizon.ts'
import { openRetention } from '../../../lifecycle/retention/retention.ts'
import { createRetentionNodes } from '../../../lifecycle/retention/retention-nodes.ts'
import { createQuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import { openParts } from '../../support/admin.ts'
import { silentLog, startDatabases } from '../../support/databases.ts'
import { records } from '../../support/journal-parts.ts'
import { until } from '../../support/processes.ts'

const days = 3
const today = Math.floor(Date.now() / dayMs) * dayMs
const beforeMs = today - days * dayMs
const { store } = await startDatabases(t)
await store.questdb.ready
const { ingest, devices } = await openParts(t, store)
ingest.startForwarding(store.questdb.address.http, true)
const client = createQuestdbClient(store.questdb.address.http)
t.teardown(() => client.close())
const exec = (sql: string) => client.exec(sql, 30_000)
await devices.add([NewDevice.parse({ name: 'porch' })], 'test')
const porch = devices.get('porch')
if (porch === undefined) throw new Error('no device')
for (let age = 1; age <= 6; age++) await ingest.append(records(porch, [age], (today - age * dayMs) * 1000, true))
await until('all is applied', () => ingest.status().lag.rows === 0)

let leader = 'a'
/** Told before each statement of the node. */
let asked = (_name: string, _sql: string) => {}

/** A connection that passes each statement on so much later. */
async function connect(slowMs: number) {
  const made = await store.connectPostgres()
  const query = made.query.bind(made) as (given: unknown) => Promise<never>
  made.query = (async (given: unknown) => {
    await sleep(slowMs)
    return await query(given)
  }) as typeof made.query
  return made
}

async function openNode(name: string, checkEveryMs: number, slowMs = 0) {
  const pool = store.postgres
  const node = await openNodes({
    pool,
    connect: () => connect(slowMs),
    leaseMs: 60_000,
    role: 'api',
    version: '0',
    host: 'test',
    settings: {},
    log: silentLog,
    onFatal: error => t.fail(error.message),
  })
  const { feed } = node
  const acceptedFrom = await openAcceptedFrom({ pool, days, nowMs: Date.now, feed })
  const retention = openRetention({
    days,
    acceptedFrom,
    shards: [
      {
        number: 1,
        questdb: store.questdb,
        ingest,
        async exec(sql) {
          asked(name, sql)
          return await exec(sql)
        },
      },
    ],
    nowMs: Date.now,
    nodes: createRetentionNodes({ pool, feed, leads: () => leader === name }),
    log: silentLog,
    timing: { checkEveryMs, marginMs: 0, graceMs: 0, knownMs: 1 },
  })
  await node.join()
  let isClosed = false
  const close = async () => {
    if (isClosed) return
    isClosed = true
    await retention.close()
    await node.close()
  }
  t.teardown(close)
  await until('it knows what has expired', () => retention.isKnown())
  return { ...retention, close }
}

const oldestMs = async () => (await listRawDays(exec))[0]?.startMs
const firstDay = today - 6 * dayMs

t.test('a node that does not look knows of each day before its readings go', async t => {
  const a = await openNode('a', 20)
  await until('days wait', () => a.state().waiting !== undefined)
  // It looks once.
  const b = await openNode('b', 3_600_000, 300)
  t.equal(b.expiredBeforeUs(), Number.NEGATIVE_INFINITY)
  const known: [number, number][] = []
  const changes: string[] = []
  asked = (name, sql) => {
    if (name === 'b' && /^(INSERT|ALTER)/.test(sql)) changes.push(sql)
    if (sql.startsWith('ALTER TABLE readings ')) known.push([a.expiredBeforeUs(), b.expiredBeforeUs()])
  }
  t.equal(await b.confirm(beforeMs + dayMs), false, 'more than waits')
  t.equal(await b.confirm(firstDay + dayMs), true, 'by the one that does not lead')
  await until('the day is gone', async () => (await oldestMs()) === firstDay + dayMs)
  const first = (firstDay + dayMs) * 1000
  t.strictSame(known[0], [first, first])
  await until('the rest waits', () => a.state().waiting?.fromMs === firstDay + dayMs)

  // In the middle of its statements it no longer leads.
  asked = (name, sql) => {
    if (name === 'a' && sql.startsWith('INSERT INTO readings_expired')) leader = 'nobody'
    if (name === 'a' && leader !== 'a' && /^(INSERT|ALTER)/.test(sql) && !sql.includes('readings_expired'))
      changes.push(sql)
  }
  t.equal(await a.confirm(beforeMs), true)
  await until('it stops', () => leader === 'nobody')
  const { lastRunMs } = a.state()
  await sleep(200)
  t.equal(await oldestMs(), firstDay + dayMs)
  t.equal(a.state().lastRunMs, lastRunMs, 'it follows')
  t.equal(a.state().fault, undefined)
  await b.close()
  leader = 'c'
  const c = await openNode('c', 20)
  asked = () => {}
  await until('the next one goes on', async () => (await oldestMs()) === beforeMs)
  t.equal(c.expiredBeforeUs(), beforeMs * 1000)
  t.equal(a.expiredBeforeUs(), beforeMs * 1000)
  t.strictSame(changes, [])
  const published = await until('each tells the same', () => a.state().expiredDays === c.state().expiredDays)
  t.equal(published, undefined)
})

t.test('a node that hears of no other one knows nothing when it has not looked', async t => {
  leader = 'nobody'
  const d = await openNode('d', 3_600_000)
  t.ok(d.isKnown())
  await d.close()
  t.notOk(d.isKnown())
})
