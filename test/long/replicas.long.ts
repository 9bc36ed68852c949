/**
 * Two api processes and two forwarders, with topics of one broker as journals and two replicas of QuestDB. Each api process shows
 * the readings of both, and another process takes over after a kill.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { compareReplicas } from '../../service/backup/compare-replicas.ts'
import { readManifest } from '../../service/backup/manifest.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { untilTableApplied } from '../../store/questdb/until-applied.ts'
import { barograph } from '../support/command-line.ts'
import { silentLog, temporaryFolder } from '../support/databases.ts'
import { freeze } from '../support/frozen.ts'
import { openKafkaNodes } from '../support/kafka-nodes.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const cluster = await openKafkaNodes(t, { replicas: 2 })
const nodes = [
  await cluster.start('api', { QUESTDB_READ: '1' }),
  await cluster.start('api', { QUESTDB_READ: '2' }),
] as const
const [one, other] = nodes
const password = await one.addDevice('porch')
const sinceStart = `start=${new Date().toISOString()}`

const reading = { device: 'porch', humidity: 50, pressure: 1000 }
const put = async (node: Service, temperature: number) =>
  (await node.put('porch', password, { ...reading, temperature })).status

async function temperatures({ url }: Service): Promise<string> {
  const response = await fetch(`${url}/api/readings/porch?${sinceStart}&format=ndjson`)
  if (response.status !== 200) return String(response.status)
  const lines = (await response.text()).split('\n').filter(line => line !== '')
  return lines.map(line => (JSON.parse(line) as { temperature: number }).temperature).join()
}

/** Returns, for each replica, 1 if a process holds its lock. */
async function isHeld({ url, dataDirectory }: Service): Promise<string | undefined> {
  const token = readFileSync(join(dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  return [...(await response.text()).matchAll(/^barograph_forwarder_held\{replica="\d"\} (\d)$/gm)]
    .map(([, held]) => held)
    .join()
}

const { databases } = cluster
const { second } = databases
if (second === undefined) throw new Error('there is no second replica')

let holder: Service
let standby: Service

interface ReplicaStates {
  kafka: {
    replicas: { number: number; is_read: boolean; state: string; reason: string | null; holder: string | null }[]
  }
}

async function replicasAt({ admin }: Service): Promise<ReplicaStates['kafka']['replicas']> {
  return ((await admin('GET', '/status')).body as ReplicaStates).kafka.replicas
}

t.test('one of two forwarders holds both replicas, for readings at both nodes', async t => {
  for (const value of [1, 2, 3, 4]) t.equal(await put(nodes[value % 2] as Service, value), 200)
  holder = await cluster.start('forward')
  for (const node of nodes) await waitFor('all are shown', async () => (await temperatures(node)) === '1,2,3,4')
  standby = await cluster.start('forward')
  t.strictSame([await isHeld(holder), await isHeld(standby)], ['1,1', '0,0'])
  const read = await Promise.all(nodes.map(async node => (await replicasAt(node)).find(({ is_read }) => is_read)))
  t.match(read, [
    { number: 1, state: 'up', holder: String },
    { number: 2, state: 'up', holder: String },
  ])
})

t.test('a node reads the other replica while its preferred one is frozen, without a missing row', async t => {
  const letGo = freeze(cluster.databases.pid('questdb'))
  t.teardown(letGo)
  t.equal(await put(one, 4.5), 200)
  await waitFor('the other replica is read', async () => (await temperatures(one)) === '1,2,3,4,4.5')
  const read = async () => (await replicasAt(one)).find(({ is_read }) => is_read)?.number
  t.equal(await read(), 2)
  const answer = await fetch(`${one.url}/api/device/porch`)
  t.equal(answer.headers.get('replica-behind-seconds'), '0.0')
  t.match(await (await fetch(`${one.url}/health/ready`)).json(), { status: 'degraded', reasons: [/^replica 1: /] })
  letGo()
  await waitFor('its own replica is read again', async () => (await temperatures(one)) !== '' && (await read()) === 1)
  t.equal(await temperatures(one), '1,2,3,4,4.5')
})

const rowsOf = (sql: typeof cluster.databases.sql) =>
  sql('SELECT device, ts, temperature FROM readings WHERE temperature IS NOT NULL ORDER BY device, ts')

t.test('the second forwarder takes both equal replicas after a kill of the first', async t => {
  await holder.end('SIGKILL')
  t.equal(await put(one, 5), 200)
  await cluster.untilForwarded()
  for (const node of nodes) await waitFor('all are shown', async () => (await temperatures(node)) === '1,2,3,4,4.5,5')
  t.equal(await isHeld(standby), '1,1')
  t.strictSame(await rowsOf(second.sql), await rowsOf(databases.sql))
})

t.test('the status shows a day in which a replica lacks a row', async t => {
  const old = '2026-01-02T03:04:05.000Z'
  const late = await other.put('porch', password, { ...reading, temperature: 7, timestamp: old })
  t.equal(late.status, 200)
  await cluster.untilForwarded()
  await second.sql("INSERT INTO readings (ts, device, temperature) VALUES ('2026-01-01T00:00:00Z', 'porch', 1)")
  // An erase leaves such a row, which is not a difference.
  await second.sql("INSERT INTO readings (ts, device) VALUES ('2026-01-03T00:00:00Z', 'porch')")
  await waitFor('it is applied', async () => {
    const rows = await second.sql("SELECT count() FROM readings WHERE ts < '2026-01-04' AND device = 'porch'")
    return Number(rows[0]?.[0]) === 2
  })
  const pool = new pg.Pool({ connectionString: databases.postgresUrl })
  t.teardown(() => pool.end())
  const replicas = [databases.questdb, second.address].map((address, at) => {
    const client = createQuestdbClient(address.http)
    t.teardown(() => client.close())
    let rows = 0
    // A day that gets a row before each check is not a difference: the other replica may get it later.
    const exec = async (sql: string) => {
      if (at === 1 && sql.includes("table_partitions('readings')")) {
        await second.sql(
          `INSERT INTO readings (ts, device, temperature) VALUES ('2026-01-05T00:00:0${++rows}Z', 'porch', 1)`,
        )
        await untilTableApplied(
          sql => client.exec(sql, 30_000),
          'readings',
          () => sleep(10),
        )
      }
      return await client.exec(sql, 30_000)
    }
    const questdb = { address, state: () => ({ state: 'up' }) as never }
    return { number: at + 1, questdb, exec, isLost: () => false, shown: () => [] }
  })
  const comparison = compareReplicas({
    ...{ replicas, pool, leads: () => true, nowMs: Date.now, log: silentLog, everyMs: 100, pauseMs: 0 },
    expiredBeforeMs: () => Number.NEGATIVE_INFINITY,
  })
  t.teardown(() => comparison.close())
  const reasonOf = async () => (await replicasAt(other)).find(({ number }) => number === 2)?.reason
  await waitFor('it is shown', async () => (await reasonOf()) === 'it differs from replica 1 on 2026-01-01 readings')
})

t.test('a removed replica is rebuilt from the other one, and includes readings received meanwhile', async t => {
  const environment = { ...cluster.environment, DATA_DIR: temporaryFolder(t) }
  const run = (...words: string[]) => barograph(['replicas', ...words], { environment })
  const letGo = freeze(second.pid())
  t.teardown(letGo)
  t.equal(await put(one, 8), 200)
  await waitFor('replica 1 alone shows it', async () => {
    const listed: { topics: { applied_offset: number }[] }[] = JSON.parse((await run('list', '--json')).stdout)
    const [first, last] = listed.map(({ topics }) => topics[0]?.applied_offset ?? 0)
    return (first as number) > (last as number)
  })
  t.match(await run('remove', '1'), { status: 1, stderr: /only replica 1 shows the last \d+ records of topic/ })
  letGo()
  t.match(await run('remove', '2'), { status: 0 })
  t.match(await run('remove', '1'), { status: 1, stderr: /no other replica is in use/ })
  const [state] = await waitForReplica('lost')
  t.match(state, { number: 2, reason: 'it was removed' })
  t.equal(await put(other, 9), 200)
  const copy = `cd ${second.root} && rm -rf db && cp -a ${databases.questdbRoot}/db ${databases.questdbRoot}/.checkpoint . && touch _restore && kill -9 ${second.pid()}`
  t.match(await run('add', '2', '--from', '2', '--copy', 'true'), { status: 1 })
  t.match(await run('add', '2', '--from', '1', '--copy', copy), { status: 0, stdout: /is a copy of replica 1/ })
  t.equal(await put(other, 10), 200)
  await cluster.untilForwarded()
  t.strictSame(await rowsOf(second.sql), await rowsOf(databases.sql))
  await waitForReplica('up')
  t.match(await run('list', '--json'), { status: 0, stdout: /"state": *"up"/ })
  t.match(await run('resend', '2', '--from', new Date(0).toISOString()), {
    stdout: /readings-s1: sent again from offset 0/,
  })
  await waitFor('it is sent again', async () => {
    const { rows } = await cluster.postgres.query('SELECT FROM replica_topics WHERE rewind_to IS NOT NULL')
    return rows.length === 0
  })
  await cluster.untilForwarded()
  t.strictSame(await rowsOf(second.sql), await rowsOf(databases.sql), 'each row is there once')
})

t.test('a backup of the second replica has its files, and the offsets up to which it has all rows', async t => {
  const environment = { ...cluster.environment, DATA_DIR: temporaryFolder(t) }
  const folder = join(temporaryFolder(t), 'backup')
  const backUp = (replica: string) => {
    const copy = `cp -a ${second.root}/db ${second.root}/.checkpoint "$FOLDER"`
    return barograph(['kafka', 'backup', folder, '--json', '--replica', replica, '--copy', copy], { environment })
  }
  t.match(await backUp('3'), { status: 1, stderr: /QUESTDB_REPLICAS has no replica 3/ })
  t.match(await backUp('first'), { status: 2, stderr: /--replica/ })
  t.match(await backUp('2'), { status: 0 })
  const { head, files } = readManifest(folder)
  const { rows } = await cluster.postgres.query('SELECT topic AS name FROM replica_topics ORDER BY topic DESC')
  t.match(
    head.topics,
    rows.filter(({ name }) => name.endsWith('@2')),
  )
  t.ok(files.some(({ path }) => path.startsWith('questdb/db/readings')))
})

async function waitForReplica(state: string) {
  await waitFor(`replica 2 is ${state}`, async () =>
    (await replicasAt(other)).some(one => one.number === 2 && one.state === state),
  )
  return (await replicasAt(other)).filter(({ number }) => number === 2)
}
