/** Bodies of which a part is written at the moment they are given out. */

import assert from 'node:assert/strict'
import { createInflateRaw, gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { bodyOf } from '../../query/kept/body.ts'
import { createBodyCache } from '../../query/kept/body-cache.ts'
import { finishBody } from '../../query/kept/finish.ts'
import { frameOf, liveBodyOf } from '../../query/kept/live-body.ts'

const fill = (live: { words: string; state: string }, nowMs: number) => {
  return { text: `${live.words} ${nowMs}`, tag: live.state }
}

t.test('the gap is filled, and gzip says the same', async () => {
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constant('0.123456789,'.repeat(9000)))
  fc.assert(
    fc.property(text, text, text, (head, words, tail) => {
      const live = liveBodyOf(frameOf(head, tail, { words, state: 'ok' }), fill)
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
  const live = liveBodyOf(frameOf('head '.repeat(500), 'tail '.repeat(500), { words: 'middle', state: 'ok' }), fill)
  const gzip = live.at(0).coded.get('gzip') as Buffer
  const inflate = createInflateRaw()
  inflate.end(gzip.subarray(10))
  let length = 0
  for await (const chunk of inflate) length += (chunk as Buffer).length
  t.equal(length, live.at(0).bytes.length)
  t.equal(inflate.bytesWritten, gzip.length - 18)
})

t.test('a body is put together once a second', async t => {
  let fillings = 0
  const live = liveBodyOf(frameOf('a', 'b', 'c'), (words, nowMs) => {
    fillings++
    return { text: `${words}${nowMs}`, tag: 'ok' }
  })
  const first = live.at(7000)
  t.equal(first.bytes.toString(), 'ac7000b')
  t.equal(live.at(7999), first)
  t.equal(fillings, 1)
  t.equal(live.at(8000).bytes.toString(), 'ac8000b')
  t.equal(live.at(6999).bytes.toString(), 'ac6000b')
})

t.test('a body that was given out stays as it is', async t => {
  const frame = frameOf('a'.repeat(9000), 'b'.repeat(9000), { words: 'c', state: 'ok' })
  const live = liveBodyOf(frame, fill)
  const first = live.at(1000)
  const [bytes, gzip] = [Buffer.from(first.bytes), Buffer.from(first.coded.get('gzip') as Buffer)]
  live.at(2000)
  t.strictSame([first.bytes, first.coded.get('gzip')], [bytes, gzip])
  t.equal(frame.tail.length, 0, 'the memory of the frame is given back')
})

t.test('one weak tag stands for all forms until what it says changes', async t => {
  const live = { words: 'x', state: 'fresh' }
  const body = liveBodyOf(frameOf('a', 'b', live), fill)
  const { etags } = body.at(1000)
  t.match(etags.identity, /^W\/"[\w-]{22}-fresh"$/)
  t.strictSame(new Set(Object.values(etags)).size, 1)
  t.strictSame(body.at(2000).etags, etags)
  live.state = 'late'
  t.not(body.at(3000).etags.identity, etags.identity)
  t.not(liveBodyOf(frameOf('a', 'c', live), fill).at(3000).etags.identity, body.at(3000).etags.identity)
})

t.test('in the memory for answers it counts as much as it may become', async t => {
  const cache = createBodyCache(100_000)
  const body = liveBodyOf(frameOf('a'.repeat(10_000), 'b'.repeat(10_000), { words: 'c', state: 'ok' }), fill)
  const whole = body.at(0)
  t.ok(body.bytesMax >= whole.bytes.length + 3 * (whole.coded.get('gzip') as Buffer).length)
  const other = bodyOf(finishBody(new Uint8Array(50_000)))
  cache.set('live', { body, askedAtMs: 0, version: '1' })
  cache.set('other', { body: other, askedAtMs: 0, version: '1' })
  t.notOk(cache.get('live'), 'the two do not fit')
  t.ok(cache.get('other'))
})
