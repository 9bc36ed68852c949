/** The QuestDB lent by a worker is empty for each test, used by one test at a time, and replaced after a failed file. */

import t, { type Test } from 'tap'
import { parseQuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { openQuestdbSql } from './faults/questdb-sql.ts'
import { borrowQuestdb, type LentQuestdb } from './support/worker-questdb.ts'
import { openWorker } from './worker.ts'

const worker = await openWorker(process.env)
t.teardown(() => worker.close())
Object.assign(process.env, worker.environment)

async function borrowed(t: Test): Promise<LentQuestdb> {
  const lent = await borrowQuestdb(t)
  if (lent === undefined) throw new Error('none is lent')
  return lent
}

function sqlOf({ QUESTDB_HTTP, QUESTDB_PG }: LentQuestdb) {
  return openQuestdbSql(parseQuestdbAddress(QUESTDB_HTTP, QUESTDB_PG))
}

await t.test('the first file creates a table, a view and a materialized view', async t => {
  const lent = await borrowed(t)
  t.equal(await borrowQuestdb(t), undefined, 'no other test has it meanwhile')
  const sql = sqlOf(lent)
  await sql('CREATE TABLE a (ts TIMESTAMP, b DOUBLE) TIMESTAMP(ts) PARTITION BY DAY WAL')
  await sql('INSERT INTO a VALUES (0, 1)')
  await sql('CREATE VIEW c AS (SELECT * FROM a)')
  await sql('CREATE MATERIALIZED VIEW d AS (SELECT ts, max(b) AS b FROM a SAMPLE BY 1h) PARTITION BY DAY')
})

let first: string | undefined
await t.test('the next file gets the same QuestDB, empty', async t => {
  await worker.endFile(true)
  const lent = await borrowed(t)
  first = lent.root
  t.strictSame(await sqlOf(lent)('SELECT table_name FROM tables()'), [])
  t.strictSame(await sqlOf(lent)('SELECT name FROM wal_tables()'), [])
})

await t.test('the file after a failed one gets another QuestDB', async t => {
  await worker.endFile(false)
  const { root } = await borrowed(t)
  t.not(root, first)
})
