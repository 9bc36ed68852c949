/** `barograph shards`, against a real broker, PostgreSQL and two QuestDBs. */

import t from 'tap'
import { readingsTable } from '../../store/tables.ts'
import { untilApplied } from '../faults/questdb-sql.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'
import { openShardNodes } from '../support/shard-nodes.ts'

const nodes = await openShardNodes(t)
const DATA_DIR = temporaryFolder(t)
const dayMs = 86_400_000
const dayOf = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10)

function run(words: string, environment: Record<string, string> = {}) {
  return barograph(words.split(' '), { environment: { ...nodes.environment, DATA_DIR, ...environment } })
}

const placements = async () =>
  (await nodes.postgres.query('SELECT from_us::float8 AS from_us FROM shard_placements')).rows

t.test('what may not be added is refused with what to do, and changes nothing', async t => {
  const isRefused = async (run: ReturnType<typeof barograph>, status: number, stderr: string) =>
    t.match(await run, { status, stderr })
  await isRefused(run('shards add', { QUESTDB_SHARDS: '' }), 1, 'QUESTDB_SHARDS does not name shard 2')
  await isRefused(run('shards add --from 2026-02-30'), 2, '--from must be a day of the calendar')
  await isRefused(run(`shards add --from ${dayOf(0)}`), 1, 'is too early: all processes have to know of it')
  const away = '2=http://127.0.0.1:9,postgresql://127.0.0.1:9/qdb'
  await isRefused(run('shards add', { QUESTDB_SHARDS: away }), 1, 'shard 2: QuestDB at 127.0.0.1:9 cannot be used')
  const [, second] = nodes.questdbs
  await second(`INSERT INTO ${readingsTable} (ts, device) VALUES ('2026-01-01', 'a-1')`)
  await untilApplied(second)
  await isRefused(run('shards add'), 1, 'shard 2: its QuestDB has readings')
  await second(`TRUNCATE TABLE ${readingsTable}`)
  await untilApplied(second)
  t.strictSame(await placements(), [])
})

t.test('a service without readings has a second shard from the start, while nothing runs', async t => {
  const node = await nodes.start('api')
  t.match(await run('shards add --from-start'), { status: 1, stderr: 'A node of Barograph' })
  await node.end('SIGTERM')
  const [one] = nodes.questdbs
  await one(`INSERT INTO ${readingsTable} (ts, device) VALUES ('2026-01-01', 'a-1')`)
  await untilApplied(one)
  t.match(await run('shards add --from-start'), { status: 1, stderr: 'shard 1 has readings: use --from' })
  await one(`TRUNCATE TABLE ${readingsTable}`)
  await untilApplied(one)
  t.match(await run('shards add --from-start --from 2026-12-01'), { status: 2, stderr: 'give --from or --from-start' })
  t.match(await run('shards add --from-start'), {
    status: 0,
    stdout: 'shard 2: 2048 of 4096 buckets of devices from 1970-01-02 on',
  })
  t.match(JSON.parse((await run('shards list --json')).stdout), [
    { shard: 1, buckets: 2048, next: null },
    { shard: 2, buckets: 2048, next: null },
  ])
  await nodes.postgres.query('DELETE FROM shard_placements')
})

t.test('a shard that is added has half of the buckets from that day on, and the list shows it', async t => {
  const before = JSON.parse((await run('shards list --json')).stdout)
  t.match(before, [{ shard: 1, buckets: 4096, next: null, forwarder: null, lag_groups: 0 }])
  const from = dayOf(3)
  const added = await run(`shards add --from ${from}`)
  t.match(added, { status: 0, stdout: `shard 2: 2048 of 4096 buckets of devices from ${from} on\n` })
  t.strictSame(await placements(), [{ from_us: Date.parse(from) * 1000 }])
  const after = JSON.parse((await run('shards list --json')).stdout)
  t.match(after, [
    { shard: 1, buckets: 4096, next: { from, buckets: 2048 } },
    { shard: 2, buckets: 0, next: { from, buckets: 2048 }, lag_groups: 0 },
  ])
  const { stdout } = await run('shards list', { QUESTDB_SHARDS: '' })
  t.match(stdout, /2 +not in QUESTDB_SHARDS +0 +2048 from /)
  t.match(await run('shards add'), { status: 1, stderr: 'QUESTDB_SHARDS does not name shard 3' })
})

t.test('shards are not merged while one is forwarded, nor where readings wait', async t => {
  const letGo = await nodes.holdShard('s2')
  t.match(await run('shards merge'), {
    status: 1,
    stderr: 'shard 2 is forwarded by a process: stop all processes first',
  })
  await letGo()
  const kafka = await nodes.kafka.connect()
  const partition = await kafka.partition('barograph-readings-s2')
  await partition.append(Buffer.from('a group'))
  t.match(await run('shards merge'), { status: 1, stderr: '1 groups of readings wait for shard 2' })
  await nodes.postgres.query("INSERT INTO shard_topics (topic, committed_offset) VALUES ('barograph-readings-s2', 1)")
  const rewind = (offset: string) =>
    nodes.postgres.query(`UPDATE shard_topics SET rewind_to = ${offset} WHERE topic = 'barograph-readings-s2'`)
  await rewind('0')
  t.match(await run('shards merge'), { status: 1, stderr: '1 groups of readings wait for shard 2' })
  t.match(JSON.parse((await run('shards list --json')).stdout), [{}, { lag_groups: 1 }])
  await rewind('1')
  t.match(await run('shards merge'), { status: 1, stderr: 'readings of shard 2 are to be sent again' })
  await rewind('NULL')
  const merged = { status: 0, stdout: 'shard 2: copied 0 readings, 0 measurements\nall readings are on shard 1\n' }
  t.match(await run('shards merge'), merged)
  t.strictSame(await placements(), [])
})
