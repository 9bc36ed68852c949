/** The parts that turn rows into bytes, by themselves. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { utcText } from '../../analytics/time/iso-text.ts'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { ByteWriter } from '../../query/answers/byte-writer.ts'
import { createPointHeads, writeSeries } from '../../query/answers/point-text.ts'
import { fieldBytesMax, RowBytes } from '../../query/export/row-bytes.ts'
import { ReadingsColumns } from '../../query/questdb/readings-columns.ts'
import { runs } from '../support/runs.ts'

test('a writer gives back what was added, if it stays under its limit', async () => {
  const parts = fc.array(fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.constant('x'.repeat(70_000))), {
    maxLength: 20,
  })
  fc.assert(
    fc.property(parts, fc.integer({ min: 0, max: 300_000 }), fc.nat(5000), (texts, bytesMax, bytesExpected) => {
      const writer = new ByteWriter(bytesMax, bytesExpected)
      for (const text of texts) {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what ASCII is
        if (/^[\x00-\x7f]*$/.test(text)) writer.ascii(text)
        else writer.utf8(text)
      }
      const whole = Buffer.from(texts.join(''))
      const bytes = writer.finish()
      if (whole.length < bytesMax) assert.deepEqual(bytes && Buffer.from(bytes), whole)
      else assert.equal(bytes, undefined)
    }),
  )
})

test('what a writer gives back is a buffer of its own, of exactly that length', async t => {
  const writer = new ByteWriter(100, 10)
  writer.ascii('abc')
  t.equal(writer.finish()?.buffer.byteLength, 3)
})

test('rows are dealt to their groups in the order in which they came', async () => {
  const rows = fc.array(fc.tuple(fc.nat(4), fc.option(fc.double({ noNaN: true }))), { maxLength: 200 })
  fc.assert(
    fc.property(rows, fc.nat(50), (given, rowsExpected) => {
      const columns = new ReadingsColumns(1, rowsExpected)
      for (const [index, [group, value]] of given.entries()) columns.add(group, index, ['skipped', value], 1)
      const orders = columns.byGroup(5)
      for (const [group, order] of orders.entries()) {
        const expected = [...given.entries()].filter(([, [of]]) => of === group)
        assert.deepEqual(
          Array.from(order, row => [columns.timesUs[row], columns.values(0)[row]]),
          expected.map(([index, [, value]]) => [index, value ?? Number.NaN]),
        )
      }
    }),
  )
})

test('rows that go back in time are a fault of ours', async t => {
  const columns = new ReadingsColumns(1, 1)
  columns.add(0, 2, [1], 0)
  t.throws(() => columns.add(1, 1, [1], 0), /a row at 1 comes behind one at 2/)
})

test('a series is JSON of its points, without the missing ones', async () => {
  const local = createLocalTime('America/St_Johns')
  const points = fc.array(
    fc.tuple(
      fc.integer({ min: 0, max: 86_399_999_999 }),
      fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
    ),
    { maxLength: 600 },
  )
  fc.assert(
    fc.property(points, given => {
      const startUs = Date.parse('2025-03-09T00:00:00Z') * 1000
      const sorted = given.map(([offset, value]) => [startUs + offset, value] as const).sort((a, b) => a[0] - b[0])
      const columns = new ReadingsColumns(1, 1)
      for (const [timeUs, value] of sorted) columns.add(0, timeUs, [value], 0)
      const writer = new ByteWriter(1_000_000, 10)
      const heads = createPointHeads(local, startUs, startUs + 86_400_000_000)
      writeSeries(writer, heads, columns.timesUs, columns.values(0), columns.byGroup(1)[0] ?? new Uint32Array(0))
      const expected = sorted.flatMap(([timeUs, v]) => (v === null ? [] : [{ d: local.text(timeUs), v }]))
      assert.equal(Buffer.from(writer.finish() ?? []).toString(), JSON.stringify(expected))
    }),
  )
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
    4.35 * 100,
    1.005,
    1e9,
    1e9 - 1,
    999_999_999.9999,
    123_456_789.012_345,
    0.00005,
  )
  fc.assert(
    fc.property(fc.oneof(decimals, near, fc.double({ noNaN: true })), fc.boolean(), (magnitude, isNegative) => {
      const value = isNegative ? -magnitude : magnitude
      assert.equal(
        written(bytes => bytes.number(value)),
        Object.is(value, -0) ? '-0' : String(value),
      )
    }),
    runs(3000, 20_000),
  )
  t.equal(written(bytes => bytes.number(-Number.MAX_VALUE)).length < fieldBytesMax, true)
})

test('a time is written as elsewhere, with six digits of the second also where they are zero', async () => {
  const timeUs = fc.integer({ min: Date.UTC(0) * 1000, max: Date.UTC(2200, 0) * 1000 })
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          timeUs,
          timeUs.map(us => us - (us % 1_000_000)),
        ),
        { maxLength: 5 },
      ),
      times => {
        const bytes = new RowBytes(0)
        for (const each of times) {
          bytes.reserve(fieldBytesMax)
          bytes.utc(each)
        }
        assert.equal(
          Buffer.from(bytes.finish()).toString(),
          times.map(us => `${utcText(us).slice(0, 19)}.${String(((us % 1e6) + 1e6) % 1e6).padStart(6, '0')}`).join(''),
        )
      },
    ),
  )
})
