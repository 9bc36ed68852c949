/** A journal in a folder that is new, under the id of one that is gone: QuestDB still has the positions of that one. */

import t from 'tap'
import { type Exec, readPosition } from '../../ingest/forwarder/applied-positions.ts'
import { settlePosition } from '../../ingest/forwarder/settle-position.ts'
import { readings } from '../../ingest/readings-table.ts'
import { tableNames } from '../../ingest/table.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { startQuestdb } from '../support/questdb.ts'

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

t.test('it begins anew, also where rows of the old one were sent again', async t => {
  t.strictSame(await settled([600, 500], 0, true), ['fits', undefined, 0, 0])
  t.strictSame(await settled([100, 500], 40, true), ['fits', undefined, 0, 0])
})

t.test('rows of a journal that is there stay missing until they are sent', async t => {
  const issue = 'QuestDB has lost readings, which are being sent again'
  t.strictSame(await settled([100, 500], 500, true), ['fits', issue, 100, 500])
  t.strictSame(await settled([600, 500], 0, false), ['fits', undefined, 600, 500])
})
