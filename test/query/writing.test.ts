/** The parts that turn rows into bytes, by themselves. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { utcText } from '../../analytics/time/iso-text.ts'
import { fieldBytesMax, RowBytes } from '../../query/export/row-bytes.ts'
import { ReadingsColumns } from '../../query/questdb/readings-columns.ts'
import { runs } from '../support/runs.ts'

test('rows that go back in time are a fault of ours', async t => {
  const columns = new ReadingsColumns(1, 1)
  columns.add(0, 2, [1], 0)
  t.throws(() => columns.add(1, 1, [1], 0), /a row at 1 comes behind one at 2/)
})

function written(fill: (bytes: RowBytes) => void): string {
  const bytes = new RowBytes(0)
  bytes.reserve(fieldBytesMax)
  fill(bytes)
  return Buffer.from(bytes.finish()).toString()
}

test('a number is written in the digits of JavaScript, and -0 with its sign', async t => {
  const decimals = fc.tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 12 })).map(([whole, places]) => {
    return Number(`${whole}e-${places}`)
  })
  const near = fc.constantFrom(
    0.1 + 0.2,
    435.00000000000006,
    1.005,
    1e9,
    999_999_999.9999,
    123_456_789.012_345,
    0.00005,
  )
  fc.assert(
    fc.property(fc.oneof(decimals, near, fc.double({ noNaN: true })), fc.boolean(), (magnitude, isNegative) => {
      const value = isNegative ? -magnitude : magnitude
      const text = written(bytes => bytes.number(value))
      assert.equal(text, Object.is(value, -0) ? '-0' : String(value))
    }),
    runs(3000, 20_000),
  )
  t.equal(written(bytes => bytes.number(-Number.MAX_VALUE)).length < fieldBytesMax, true)
})

test('a time is written as elsewhere, with six digits of the second also where they are zero', async () => {
  const timeUs = fc.integer({ min: Date.UTC(0) * 1000, max: Date.UTC(2200, 0) * 1000 })
  const whole = timeUs.map(us => us - (us % 1_000_000))
  const textOf = (us: number) => `${utcText(us).slice(0, 19)}.${String(((us % 1e6) + 1e6) % 1e6).padStart(6, '0')}`
  fc.assert(
    fc.property(fc.oneof(timeUs, whole), us =>
      assert.equal(
        written(bytes => bytes.utc(us)),
        textOf(us),
      ),
    ),
  )
})
