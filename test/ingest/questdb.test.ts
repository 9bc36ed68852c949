/** The whole way from the door to a real QuestDB. */

import t from 'tap'
import { isWhole } from '../../ingest/forwarder/dead-letter.ts'
import { layoutOf, offsetOf } from '../../ingest/journal/record.ts'
import { readings } from '../../ingest/readings-table.ts'
import { readingsTable } from '../../store/tables.ts'
import { device, reading, records } from '../support/journal-parts.ts'
import { until } from '../support/processes.ts'
import { startQuestdb } from '../support/questdb.ts'
import { questdbRows } from '../support/questdb-rows.ts'
import { openTestIngest } from './open-ingest.ts'

const questdb = await startQuestdb(t)
const ask = (sql: string) => questdbRows({ questdb }, sql)

t.test('live and late readings, replacements and poison, as QuestDB shows them in the end', async t => {
  const ingest = openTestIngest(t)
  ingest.startForwarding(questdb.address.http, true)
  const isApplied = () => ingest.status().lag.rows === 0
  const nowMs = Date.now()

  t.equal(await ingest.accept(device(1), reading(21.5)), 'stored')
  t.equal(await ingest.accept(device(2), reading(1, nowMs)), 'stored')
  t.equal(await ingest.accept(device(2), reading(2, nowMs)), 'stored')
  t.equal(await ingest.accept(device(3), reading(3, nowMs - 86_400_000)), 'stored')
  await until('they are applied', isApplied)
  t.ok(ingest.replicas[0].revision(1) > 0, 'a revision tells of new rows')
  t.strictSame(await ask(`SELECT device, temperature, battery_voltage FROM ${readingsTable} ORDER BY device`), [
    ['device-1', 21.5, null],
    ['device-2', 2, null],
    ['device-3', 3, null],
  ])

  // A symbol that is no UTF-8 (500) and a time before 1970 (400) among a hundred good rows.
  const temperatures = Array.from({ length: 100 }, (_, index) => index)
  const bulk = records(device(4), temperatures, nowMs * 1000 + 1)
  const length = bulk.length / 100
  bulk[30 * length + layoutOf(readings).symbolsAt + 1] = 0xff
  bulk.writeDoubleLE(-5000, 60 * length + offsetOf.timeUs)
  t.equal(await ingest.append(bulk), 'stored')
  await until('the good ones are applied', isApplied)
  t.strictSame(await ask(`SELECT count() FROM ${readingsTable} WHERE device = 'device-4'`), [[98]])
  const letters = (await ingest.deadLetters.list(-1, 10)).filter(isWhole)
  t.match(letters, [{ values: { temperature: 30 } }, { values: { temperature: 60 } }])

  // A replay puts them back into the journal; they are refused again and become new letters.
  t.strictSame(await ingest.deadLetters.replay(), { replayed: 2, damaged: 0, outcome: 'stored' })
  // Without others that pass, a 500 may be the fault of the server.
  t.equal(await ingest.accept(device(1), reading(22)), 'stored')
  await until('they are refused again', async () => (await ingest.deadLetters.list(-1, 10)).length === 2)
  t.ok(((await ingest.deadLetters.list(-1, 10))[0]?.id ?? 0) > (letters[1]?.id ?? 0))
})
