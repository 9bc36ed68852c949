/** The hourly view with several nodes: one changes it, and none uses it during a rebuild. */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { openSharedView } from '../../service/shared-view.ts'
import { type SharedView, watchSharedHourlyView } from '../../store/questdb/shared-hourly-view.ts'
import { hourlyView } from '../../store/tables.ts'
import { nowhere, recordingLog, startDatabases } from '../support/databases.ts'
import { startQuestdb } from '../support/questdb.ts'
import { openNode, type TestNode } from '../support/registries.ts'
import { waitFor } from '../support/wait-for.ts'

const { store } = await startDatabases(t, nowhere)
const questdb = await startQuestdb(t)
const client = new pg.Client({ ...questdb.address.pg, ssl: false })
await client.connect()
t.teardown(() => client.end())
await questdb.write([{ symbol: 'a-1', time: '2025-01-01T00:10:00Z', temperature: 1 }])
await client.query(`DROP MATERIALIZED VIEW IF EXISTS ${hourlyView}`)

interface Viewer extends Pick<TestNode, 'nodes'> {
  shared: SharedView
  view: ReturnType<typeof watchSharedHourlyView>
  texts: string[]
}

async function open(t: Test, graceMs = 300): Promise<Viewer> {
  const { nodes } = await openNode(t, store)
  const { log, texts } = recordingLog('info')
  const shared = await openSharedView({ ...nodes, pool: store.postgres, replica: 1 })
  const view = watchSharedHourlyView({
    address: questdb.address,
    isUp: () => true,
    timing: { refreshEveryMs: 100, checkEveryMs: 50, graceMs },
    shared,
    log,
  })
  t.teardown(() => view.close())
  return { nodes, shared, view, texts }
}

/** QuestDB gives the folder a new name after each rebuild. */
async function folderOfView(): Promise<string | undefined> {
  const sql = `SELECT directoryName AS folder FROM tables() WHERE table_name = '${hourlyView}'`
  return (await client.query<{ folder: string }>(sql)).rows[0]?.folder
}

/** The leader of two comes first, since either may lead after a start. */
function leaderFirst([one, other]: readonly [Viewer, Viewer]): readonly [Viewer, Viewer] {
  return one.nodes.leads() ? [one, other] : [other, one]
}

const invalid = 'SELECT FROM hourly_view WHERE valid_through IS NULL'
const untilInvalid = () =>
  waitFor('the leader reports it as invalid', async () => (await store.postgres.query(invalid)).rowCount === 1)
const isValid = ({ view }: Viewer) => view.validThroughTxn() !== undefined
const rebuilds = ({ texts }: Viewer) => texts.filter(text => /rebuilding the hourly view/.test(text)).length

/** Waits until the view is valid. All nodes that do not lead the whole time see one and the same view. */
async function untilValid(t: Test, viewers: readonly Viewer[], isDone: () => boolean): Promise<void> {
  const follows = (viewer: Viewer) => isValid(viewer) && !viewer.nodes.leads()
  const folders = new Map<number, string | undefined>()
  await waitFor('the view is valid at all nodes', async () => {
    const before = viewers.map(viewer => ({ isValid: follows(viewer), builds: viewer.shared.report().builds }))
    const folder = await folderOfView()
    for (const [place, viewer] of viewers.entries()) {
      const builds = before[place]?.builds ?? 0
      if (before[place]?.isValid !== true || !follows(viewer) || viewer.shared.report().builds !== builds) continue
      if (!folders.has(builds)) folders.set(builds, folder)
      if (folder === undefined || folders.get(builds) !== folder) t.fail(`a node uses a view that is gone: ${folder}`)
    }
    return viewers.every(isValid) && isDone()
  })
}

t.test('one node builds the view and publishes its last valid transaction', async t => {
  const [leader, follower] = [await open(t), await open(t)]
  await untilValid(t, [leader, follower], () => true)
  t.equal(rebuilds(leader) + rebuilds(follower), 1)
  const before = leader.view.validThroughTxn() ?? 0
  await questdb.write([{ symbol: 'a-1', time: '2025-01-01T00:20:00Z', temperature: 4 }])
  await untilValid(t, [leader, follower], () => (follower.view.validThroughTxn() ?? 0) > before)

  const rebuilt = (count: number) => () => rebuilds(leader) + rebuilds(follower) >= count
  leader.view.markSuspect('a test')
  t.equal(isValid(leader), false)
  await untilValid(t, [leader, follower], rebuilt(2))
  follower.view.markSuspect('a test')
  t.equal(isValid(follower), false, 'a follower does not use it at once')
  await untilValid(t, [leader, follower], rebuilt(3))
  await client.query(`DROP MATERIALIZED VIEW ${hourlyView}`)
  await waitFor('both know', () => !isValid(leader) && !isValid(follower))
  await untilValid(t, [leader, follower], rebuilt(4))
  const [first, second] = leaderFirst([leader, follower])
  t.equal(rebuilds(second), 0, 'all by the one that leads')

  const folder = await folderOfView()
  const third = await open(t)
  t.equal(isValid(third), true, 'a node that starts knows it')
  await first.nodes.close()
  await questdb.write([{ symbol: 'a-1', time: '2025-01-01T00:30:00Z', temperature: 7 }])
  const last = second.view.validThroughTxn() ?? 0
  await untilValid(t, [second, third], () => (second.view.validThroughTxn() ?? 0) > last)
  t.equal(isValid(first), false, 'one that has no lease does not use it')
  t.equal(await folderOfView(), folder, 'the next leader goes on with the view that is there')
  const { rows } = await client.query(`SELECT temperature_count AS n FROM ${hourlyView}`)
  t.strictSame(rows, [{ n: '3' }])
})

t.test("a node's knowledge of the view outlives the leader", async t => {
  const both = [await open(t), await open(t)] as const
  await untilValid(t, both, () => true)
  const [leader, follower] = leaderFirst(both)
  const builds = leader.shared.report().builds
  await leader.view.close()
  follower.view.markSuspect('a test')
  await waitFor('it is written', () => leader.shared.suspectBuild() === builds)
  await leader.nodes.close()
  await follower.view.close()
  const folder = await folderOfView()
  const slow = await open(t, 3_600_000)
  await follower.nodes.close()
  await untilInvalid()
  await sleep(300)
  t.equal(await folderOfView(), folder, 'queries that were planned before may still run')
  await slow.view.close()
  const next = await open(t)
  await slow.nodes.close()
  await untilValid(t, [next], () => next.shared.report().builds === builds + 1)
  t.equal(rebuilds(next), 1)
})

t.test('the view stays as long as a node may not know that it is not to be used', async t => {
  const one = await open(t)
  await untilValid(t, [one], () => true)
  await store.postgres.query(
    `INSERT INTO nodes (id, role, version, applied, expires_at, settings)
     VALUES (gen_random_uuid(), 'behind', '0', 0, clock_timestamp() + interval '1 hour', '{}')`,
  )
  const folder = await folderOfView()
  one.view.markSuspect('a test')
  await untilInvalid()
  // Several times as long as queries are waited for.
  await sleep(1_000)
  t.equal(await folderOfView(), folder)
  await store.postgres.query("DELETE FROM nodes WHERE role = 'behind'")
  await untilValid(t, [one], () => rebuilds(one) > 0)
})

t.test('each replica has a view of its own', async t => {
  const one = await open(t)
  await untilValid(t, [one], () => true)
  await waitFor('it leads', () => one.nodes.leads())
  const { builds } = one.shared.report()
  const second = await openSharedView({ ...one.nodes, pool: store.postgres, replica: 2 })
  t.equal(await second.takeOver(), undefined)
  await second.publish({ validThroughTxn: 1_000_000, builds: 1000 })
  await second.suspect(999)
  await waitFor('it is reported', () => second.suspectBuild() === 999)
  t.strictSame(second.report(), { validThroughTxn: 1_000_000, builds: 1000 })
  t.strictSame([one.shared.report().builds, one.shared.suspectBuild() < builds], [builds, true])
  // A node that has just begun to lead reads it first.
  await untilValid(t, [one], () => one.shared.report().builds === builds)
})

t.test('in another epoch nothing is known of the view', async t => {
  const one = await open(t)
  await untilValid(t, [one], () => true)
  await store.postgres.query('UPDATE feed_head SET epoch = gen_random_uuid()')
  const shared = await openSharedView({ ...one.nodes, pool: store.postgres, replica: 1 })
  t.strictSame(shared.report(), { validThroughTxn: undefined, builds: 0 })
})
