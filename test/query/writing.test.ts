/** Unit tests of the parts that turn rows into bytes. */

import assert from 'node:assert/strict'
import { createInflateRaw, gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import t, { test } from 'tap'
import { utcText } from '../../analytics/time/iso-text.ts'
import { bodyOf, encodeBody } from '../../query/cache/body.ts'
import { createBodyCache } from '../../query/cache/body-cache.ts'
import { dynamicBodyOf, templateOf } from '../../query/cache/response-template.ts'
import { fieldBytesMax, RowBytes } from '../../query/export/export-texts.ts'
import { ReadingsColumns } from '../../query/questdb/readings-columns.ts'
import { runs } from '../support/runs.ts'

test('rows that go back in time are a fault of ours', async t => {
  const columns = new ReadingsColumns(1, 1)
  columns.add(0, 2, [1], 0)
  t.throws(() => columns.add(1, 1, [1], 0), /rows out of order: 1 after 2/)
})

function written(fill: (bytes: RowBytes) => void): string {
  const bytes = new RowBytes(0)
  bytes.reserve(fieldBytesMax)
  fill(bytes)
  return Buffer.from(bytes.finish()).toString()
}

test('a number is written with the digits of JavaScript, and -0 with its sign', async t => {
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

const write = (live: { words: string; state: string }, nowMs: number) => {
  return { text: `${live.words} ${nowMs}`, tag: live.state }
}

t.test('the dynamic part is written with the same text in gzip', async () => {
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constant('0.123456789,'.repeat(9000)))
  fc.assert(
    fc.property(text, text, text, (head, words, tail) => {
      const live = dynamicBodyOf(templateOf(head, tail, { words, state: 'ok' }), write)
      // Each is made of the one before.
      for (const nowMs of [5000, 10_000, 9000]) {
        const { bytes, coded } = live.at(nowMs)
        const whole = Buffer.concat([head, `${words} ${nowMs}`, tail].map(part => Buffer.from(part)))
        assert.deepEqual(bytes, whole)
        assert.deepEqual(gunzipSync(coded.get('gzip') as Buffer), whole)
      }
    }),
  )
})

t.test('gzip is one member: a browser reads no second one', async t => {
  const live = dynamicBodyOf(
    templateOf('head '.repeat(500), 'tail '.repeat(500), { words: 'middle', state: 'ok' }),
    write,
  )
  const gzip = live.at(0).coded.get('gzip') as Buffer
  const inflate = createInflateRaw()
  inflate.end(gzip.subarray(10))
  let length = 0
  for await (const chunk of inflate) length += (chunk as Buffer).length
  t.equal(length, live.at(0).bytes.length)
  t.equal(inflate.bytesWritten, gzip.length - 18)
})

t.test('a body is joined once a second', async t => {
  let writes = 0
  const live = dynamicBodyOf(templateOf('a', 'b', 'c'), (words, nowMs) => {
    writes++
    return { text: `${words}${nowMs}`, tag: 'ok' }
  })
  const first = live.at(7000)
  t.equal(first.bytes.toString(), 'ac7000b')
  t.equal(live.at(7999), first)
  t.equal(writes, 1)
  t.equal(live.at(8000).bytes.toString(), 'ac8000b')
  t.equal(live.at(6999).bytes.toString(), 'ac6000b')
})

t.test('a body that was served stays as it is', async t => {
  const template = templateOf('a'.repeat(9000), 'b'.repeat(9000), { words: 'c', state: 'ok' })
  const live = dynamicBodyOf(template, write)
  const first = live.at(1000)
  const [bytes, gzip] = [Buffer.from(first.bytes), Buffer.from(first.coded.get('gzip') as Buffer)]
  live.at(2000)
  t.strictSame([first.bytes, first.coded.get('gzip')], [bytes, gzip])
  t.equal(template.tail.length, 0, 'the memory of the template is freed')
})

t.test('one weak tag is shared by all encodings until the content changes', async t => {
  const live = { words: 'x', state: 'fresh' }
  const body = dynamicBodyOf(templateOf('a', 'b', live), write)
  const { etags } = body.at(1000)
  t.match(etags.identity, /^W\/"[\w-]{22}-fresh"$/)
  t.strictSame(new Set(Object.values(etags)).size, 1)
  t.strictSame(body.at(2000).etags, etags)
  live.state = 'late'
  t.not(body.at(3000).etags.identity, etags.identity)
  t.not(dynamicBodyOf(templateOf('a', 'c', live), write).at(3000).etags.identity, body.at(3000).etags.identity)
})

t.test('in the memory for answers it counts as much as it may become', async t => {
  const cache = createBodyCache(100_000)
  const body = dynamicBodyOf(templateOf('a'.repeat(10_000), 'b'.repeat(10_000), { words: 'c', state: 'ok' }), write)
  const whole = body.at(0)
  t.ok(body.bytesMax >= whole.bytes.length + 3 * (whole.coded.get('gzip') as Buffer).length)
  const other = bodyOf(encodeBody(new Uint8Array(50_000)))
  cache.set('live', { body, askedAtMs: 0, version: '1' })
  cache.set('other', { body: other, askedAtMs: 0, version: '1' })
  t.notOk(cache.get('live'), 'the two do not fit')
  t.ok(cache.get('other'))
})
