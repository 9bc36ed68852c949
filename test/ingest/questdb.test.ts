/** The whole write path to a real QuestDB, with values that have no column. */

import t from 'tap'
import { isWhole } from '../../ingest/forwarder/dead-letters.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import { layoutOf, offsetOf } from '../../ingest/journal/record.ts'
import type { Reading } from '../../ingest/reading.ts'
import { readings } from '../../ingest/readings-table.ts'
import { measurementsTable, readingsTable } from '../../store/tables.ts'
import { temporaryFolder } from '../support/databases.ts'
import { device, reading, records } from '../support/journal-parts.ts'
import { until } from '../support/processes.ts'
import { startQuestdb } from '../support/questdb.ts'
import { questdbRows } from '../support/questdb-rows.ts'
import { openTestIngest } from './open-ingest.ts'

const questdb = await startQuestdb(t)
const { http } = questdb.address
const ask = (sql: string) => questdbRows({ questdb }, sql)

const isApplied = (ingest: Ingest) => ingest.status().lag.rows === 0

const atMs = Date.UTC(2026, 0, 1)
const none = { temperature: Number.NaN, humidity: Number.NaN, pressure: Number.NaN }

function withCustom(of: Reading, custom: Record<number, number>): Reading {
  return { ...of, custom: { series: Object.keys(custom).map(Number), values: Object.values(custom) } }
}

t.test('custom values are rows that are replaced and removed with their reading', async t => {
  const shown = () => ask(`SELECT ts, series, value FROM ${measurementsTable} ORDER BY ts, series`)
  const directory = temporaryFolder(t)
  const first = openTestIngest(t, { directory })
  first.startForwarding(http, true)
  const [climate, meter] = [device(1), device(2)]

  t.equal(await first.accept(climate, withCustom(reading(1, atMs), { 11: 400.5, 12: 3 })), 'stored')
  t.equal(await first.accept(climate, withCustom(reading(2, atMs + 1000), { 11: 401 })), 'stored')
  t.equal(await first.accept(meter, withCustom({ ...reading(0, atMs), ...none }, { 21: -7 })), 'stored')
  await until('they are applied', () => isApplied(first))
  const time = '2026-01-01T00:00:00.000000Z'
  const nextTime = '2026-01-01T00:00:01.000000Z'
  t.strictSame(await shown(), [
    [time, 11, 400.5],
    [time, 12, 3],
    [time, 21, -7],
    [nextTime, 11, 401],
  ])
  const sql = `SELECT ts, device, temperature, humidity FROM ${readingsTable} ORDER BY device, ts`
  const readings = [
    [time, 'device-1', 1, 50],
    [nextTime, 'device-1', 2, 50],
    [time, 'device-2', null, null],
  ]
  t.strictSame(await ask(sql), readings, 'a reading without any of the columns is a row, too')

  t.equal(await first.accept(climate, withCustom(reading(1, atMs), { 12: 5 })), 'stored')
  await until('the reading is replaced', () => isApplied(first))
  const replaced = [[time, 11, null], [time, 12, 5], ...(await shown()).slice(2)]
  t.strictSame(await shown(), replaced, 'the value that it leaves out is gone')
  await first.close()

  const second = openTestIngest(t, { directory })
  t.equal(await second.accept(climate, reading(1, atMs)), 'stored')
  t.equal(await second.accept(meter, reading(3, atMs + 2000)), 'stored')
  // The registry's series after a restart.
  second.startForwarding(http, true, Uint32Array.of(1, 11, 1, 12, 2, 21))
  await until('the reading is replaced by one without custom values', () => isApplied(second))
  t.strictSame((await shown()).slice(0, 4), replaced.with(1, [time, 12, null]))
  await second.close()
})

t.test('a row of custom values that QuestDB refuses is a dead letter with its whole reading', async t => {
  await questdb.clear()
  async function changeType(type: string): Promise<void> {
    await ask(`ALTER TABLE ${measurementsTable} ALTER COLUMN value TYPE ${type}`)
    const sql = `SELECT type FROM table_columns('${measurementsTable}') WHERE "column" = 'value'`
    await until('the column has that type', async () => (await ask(sql))[0]?.[0] === type)
  }
  const directory = temporaryFolder(t)
  const ingest = openTestIngest(t, { directory })
  ingest.startForwarding(http, true)
  await changeType('BOOLEAN')
  t.equal(await ingest.accept(device(1), withCustom(reading(1, atMs), { 11: 400 })), 'stored')
  t.equal(await ingest.accept(device(1), reading(2, atMs + 1000)), 'stored')
  await until('it is a dead letter', () => ingest.status().forwarder.deadLetters === 1 && isApplied(ingest))
  const [letter] = (await ingest.deadLetters.list(-1, 10)).filter(isWhole)
  t.strictSame(letter?.further, [{ series: 11, value: 400 }])
  const temperatures = `SELECT temperature FROM ${readingsTable} ORDER BY temperature`
  t.strictSame(await ask(temperatures), [[2]], 'nothing of it is shown')

  await ingest.close()
  await changeType('DOUBLE')
  // QuestDB remembers the type of a column for each connection.
  const next = openTestIngest(t, { directory })
  next.startForwarding(http, true)
  t.strictSame(await next.deadLetters.replay(), { replayed: 1, damaged: 0, outcome: 'stored' })
  await until('it is applied', () => isApplied(next))
  t.strictSame(await ask(temperatures), [[1], [2]])
  t.strictSame(await ask(`SELECT series, value FROM ${measurementsTable}`), [[11, 400]])
  await next.close()
})

t.test('live and late readings, replacements and poison, as QuestDB shows them in the end', async t => {
  await questdb.clear()
  const ingest = openTestIngest(t)
  ingest.startForwarding(questdb.address.http, true)
  const isApplied = () => ingest.status().lag.rows === 0
  const nowMs = Date.now()

  t.equal(await ingest.accept(device(1), reading(21.5)), 'stored')
  t.equal(await ingest.accept(device(2), reading(1, nowMs)), 'stored')
  t.equal(await ingest.accept(device(2), reading(2, nowMs)), 'stored')
  t.equal(await ingest.accept(device(3), reading(3, nowMs - 86_400_000)), 'stored')
  await until('they are applied', isApplied)
  t.ok(ingest.replicas[0].revision(1) > 0, 'new rows raise the revision')
  t.strictSame(await ask(`SELECT device, temperature, battery_voltage FROM ${readingsTable} ORDER BY device`), [
    ['device-1', 21.5, null],
    ['device-2', 2, null],
    ['device-3', 3, null],
  ])

  // A symbol with invalid UTF-8 (500) and a time before 1970 (400) among a hundred good rows.
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

  // A replay puts them back into the journal. They are rejected again and become new letters.
  t.strictSame(await ingest.deadLetters.replay(), { replayed: 2, damaged: 0, outcome: 'stored' })
  // A 500 may be the server's fault if no other row passes.
  t.equal(await ingest.accept(device(1), reading(22)), 'stored')
  await until('they are refused again', async () => (await ingest.deadLetters.list(-1, 10)).length === 2)
  t.ok(((await ingest.deadLetters.list(-1, 10))[0]?.id ?? 0) > (letters[1]?.id ?? 0))
})
