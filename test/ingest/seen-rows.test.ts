/** Rows that come again in a run. */

import fc from 'fast-check'
import t from 'tap'
import { SeenRows } from '../../ingest/formats/seen-rows.ts'
import { runs } from '../support/runs.ts'

t.test('a row is seen again by its series and time, as in a set of all', async () => {
  const row = fc.tuple(
    fc.nat({ max: 70 }),
    fc.nat({ max: 70 }).map(time => (time - 35) * 1_000_001),
  )
  const property = fc.property(fc.array(row, { maxLength: 4_000, size: 'max' }), rows => {
    const seen = new SeenRows()
    const all = new Set<string>()
    return rows.every(([series, timeUs]) => {
      const key = `${series} ${timeUs}`
      const isThere = all.has(key)
      all.add(key)
      return seen.add(series, timeUs) === isThere
    })
  })
  fc.assert(property, runs(20, 100))
})

t.test('it grows, and beyond its bound the earliest rows are forgotten', async t => {
  const seen = new SeenRows(10_000)
  for (let row = 0; row < 15_000; row++) if (seen.add(row % 7, row * 1000)) t.fail(`${row} is new`)
  t.ok(seen.add(14_999 % 7, 14_999_000))
  t.ok(seen.add(0, 0), 'of the generation before')
  for (let row = 15_000; row < 40_000; row++) if (seen.add(row % 7, row * 1000)) t.fail(`${row} is new`)
  t.notOk(seen.add(1, 1000))
})
