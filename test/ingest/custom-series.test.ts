/** Which custom values a record may take away. */

import { test } from 'tap'
import { CustomSeries } from '../../ingest/forwarder/custom-series.ts'
import { erasedCustom } from '../../ingest/journal/record.ts'
import { readingLength, writeReading } from '../../ingest/readings-table.ts'
import { device, reading } from '../support/journal-parts.ts'

const porch = device(1)

/** Of a record of the porch at this second with values of these series; NaN for one that was erased. */
function absentOf(known: CustomSeries, second: number, series: number[], value = 1): number[] {
  const given = { ...reading(1, second * 1000), custom: { series, values: series.map(() => value) } }
  const view = new DataView(new ArrayBuffer(readingLength(porch, given)))
  writeReading(view, 0, porch, second * 1_000_000, false, given)
  return [...known.absentOf(view, 0)]
}

test('a history in the order of time replaces nothing, however sparse it is', t => {
  const known = new CustomSeries(new Uint32Array())
  const all = Array.from({ length: 64 }, (_, index) => 100 + index)
  let absent = 0
  for (let second = 1; second <= 1000; second++) absent += absentOf(known, second, [all[second % 64] as number]).length
  t.equal(absent, 0)
  t.strictSame(absentOf(known, 1000, [100]), [140], 'at the same time, the one that had a value then')
  t.equal(absentOf(known, 936, []).length, 64, 'all of those may have one')
  t.equal(absentOf(known, 990, []).length, 12, 'and of the last seconds those that came since')
  t.end()
})

test('what was there before this process may have values as late as the table has', t => {
  const known = new CustomSeries(Uint32Array.of(1, 11, 1, 12))
  t.strictSame(absentOf(known, 50, [13]), [11, 12], 'as long as nobody knows how late')
  known.storedUntil(60_000_000)
  t.strictSame(absentOf(known, 60, [13]), [11, 12])
  t.strictSame(absentOf(known, 61, []), [])
  t.strictSame(absentOf(known, 55, []), [11, 12, 13])
  t.end()
})

test('a series that was erased is forgotten, and its records do not bring it back', t => {
  const known = new CustomSeries(Uint32Array.of(1, 11, 1, 12))
  t.strictSame(absentOf(known, 5, [13]), [11, 12])
  known.forget(new Set([11, 13].map(erasedCustom)))
  t.strictSame(absentOf(known, 5, []), [12])
  t.strictSame(absentOf(known, 5, [11, 13], Number.NaN), [12])
  t.strictSame(absentOf(known, 5, []), [12])
  known.storedUntil(1)
  t.strictSame(absentOf(known, 5, [14]), [])
  t.strictSame(absentOf(known, 5, []), [14], 'the one that came later was not there before')
  t.end()
})
