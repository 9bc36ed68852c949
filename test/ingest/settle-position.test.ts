/** Positions of journals in QuestDB: a journal whose folder is gone, and positions replaced during a read. */

import t from 'tap'
import {
  advancePosition,
  type Exec,
  putPosition,
  readPosition,
  shownPosition,
} from '../../ingest/forwarder/applied-positions.ts'
import { settlePosition } from '../../ingest/forwarder/settle-position.ts'
import { readings } from '../../ingest/readings-table.ts'
import { tableNames } from '../../ingest/table.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { startQuestdb } from '../support/questdb.ts'
import { waitFor } from '../support/wait-for.ts'

const id = 'e59cebf1-276a-458c-b3c9-e4ca8775f7ba'
const journal = 'disk:readings'
const { address } = await startQuestdb(t)
const client = createQuestdbClient(address.http)
t.teardown(() => client.close())
const exec: Exec = sql => client.exec(sql, 10_000)
const known = { journal, id, sinceMs: 0, committed: 0, committedMs: 0 }
const database = { query: async () => ({ rows: [known] }) } as never

async function settled(before: [position: number, wholeFrom: number], end: number, isNew: boolean) {
  const [position, wholeFrom] = before
  const rows = `cast(0 AS TIMESTAMP), '${id}', ${position}, ${wholeFrom}, cast(0 AS TIMESTAMP), 0, 0`
  await exec(`INSERT INTO applied_positions VALUES (${rows})`)
  const options = { database, exec, journal, table: readings, acceptedMs: undefined, beforeAgain() {}, nowMs: () => 0 }
  const { kind, issue } = await settlePosition(options, { committed: 0, start: 0, end, isNew })
  const { applied } = await readPosition(exec, { id, tables: tableNames(readings) }, new Set([id]))
  return [kind, issue, applied?.position, applied?.wholeFrom]
}

t.test('it starts from scratch, even after rows of the old one were sent again', async t => {
  t.strictSame(await settled([600, 500], 0, true), ['fits', undefined, 0, 0])
  t.strictSame(await settled([100, 500], 40, true), ['fits', undefined, 0, 0])
})

t.test('rows of a journal that is there stay missing until they are sent', async t => {
  const issue = 'QuestDB has lost readings, which are being sent again'
  t.strictSame(await settled([100, 500], 500, true), ['fits', issue, 100, 500])
  t.strictSame(await settled([600, 500], 0, false), ['fits', undefined, 600, 500])
})

t.test('a position that the forwarder replaces meanwhile is found', async t => {
  const key = { id: 'a0ad0d5a-3a5c-4a0b-8c3b-1f3f2b1f6a6e', tables: tableNames(readings) }
  await putPosition(exec, key, { position: 100, wholeFrom: 0, recordedMs: 0 })
  let looks = 0
  const position = await readPosition(
    async sql => {
      const rows = await exec(sql)
      if (!sql.includes('wal_tables') || looks++ > 0) return rows
      // The forwarder writes rows, then their position with the transaction of the rows.
      await exec(`INSERT INTO readings (ts, device) VALUES (0, 'porch-1')`)
      await advancePosition(exec, key.id, 200, await txnsOf(key.tables), 0)
      await waitFor('the position shows', async () => (await shownPosition(exec, key.id)) === 200)
      return rows
    },
    key,
    new Set([key.id]),
  )
  t.match(position, { applied: { position: 200 } })
})

async function txnsOf(tables: readonly string[]): Promise<number[]> {
  const rows = await exec('SELECT name, sequencerTxn FROM wal_tables()')
  return tables.map(table => Number(rows.find(([name]) => name === table)?.[1] ?? 0))
}
