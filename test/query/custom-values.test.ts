/** Values without a column, read from a real QuestDB in chunks of any size. */

import fc from 'fast-check'
import t from 'tap'
import { createColumnsReader } from '../../query/questdb/columns-reader.ts'
import { eachCustomValue } from '../../query/questdb/custom-values.ts'
import { createPgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { startQuestdb, type TestCustomValue } from '../support/questdb.ts'
import { runs } from '../support/runs.ts'
import { stays } from './query-at.ts'

const questdb = await startQuestdb(t)
const unhurried = { connectTimeoutMs: 600_000, statementTimeoutMs: 600_000 }
const connection = createPgConnection(questdb.address.pg, unhurried)
t.teardown(() => connection.close())
const reader = createColumnsReader({ questdb: questdb.address, ...unhurried }, connection)
t.teardown(() => reader.close())

const startMs = Date.UTC(2026, 4, 1)
const timeOf = (second: number) => new Date(startMs + second * 1000).toISOString()

async function read(fromSecond: number, toSecond: number, series: readonly number[] | undefined, rowsMax?: number) {
  const found: [number, number, number][] = []
  const range = { fromUs: (startMs + fromSecond * 1000) * 1000, toUs: (startMs + toSecond * 1000) * 1000, series }
  await eachCustomValue(
    reader,
    range,
    (timeUs, ofSeries, value) => found.push([timeUs / 1_000_000 - startMs / 1000, ofSeries, value]),
    stays(),
    rowsMax,
  )
  return found
}

const made = fc.record({
  // Few times, so that many values share one.
  second: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 86_400 })),
  series: fc.integer({ min: 1, max: 12 }),
  value: fc.option(fc.double({ min: -1e6, max: 1e6, noNaN: true }).map(value => value + 0)),
})

t.test('every value of a range comes once, ascending by time, whatever the size of a chunk', async t => {
  await fc.assert(
    fc.asyncProperty(fc.array(made, { maxLength: 60 }), fc.integer({ min: 1, max: 70 }), async (rows, rowsMax) => {
      await questdb.clear()
      const byKey = new Map(rows.map(row => [`${row.second}/${row.series}`, row]))
      const wanted = [...byKey.values()].sort((a, b) => a.second - b.second || a.series - b.series)
      await questdb.writeCustom(wanted.map(({ second, ...row }): TestCustomValue => ({ ...row, time: timeOf(second) })))
      const present = wanted.flatMap(({ second, series, value }) => (value === null ? [] : [[second, series, value]]))
      const found = await read(0, 86_401, undefined, rowsMax)
      t.ok(found.every(([second], place) => place === 0 || second >= (found[place - 1]?.[0] ?? 0)))
      const sorted = found.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])
      t.strictSame(sorted, present)
    }),
    runs(6, 25),
  )
})

t.test('only those of some series and of the range, without those that have no value', async t => {
  await questdb.clear()
  await questdb.writeCustom([
    { series: 7, time: timeOf(0), value: 1 },
    { series: 7, time: timeOf(1), value: null },
    { series: 8, time: timeOf(1), value: 2 },
    { series: 9, time: timeOf(1), value: -0.5 },
    { series: 7, time: timeOf(2), value: 3 },
  ])
  t.strictSame(await read(0, 2, [7, 9]), [
    [0, 7, 1],
    [1, 9, -0.5],
  ])
  t.strictSame(await read(0, 9, []), [])
})
