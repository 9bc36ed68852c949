/** The buffer of rejections against a plain model: bounds, folding, fairness, and untrusted texts. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import type { Rejection } from '../../ingest/rejections/rejection.ts'
import { RejectionRing } from '../../ingest/rejections/rejection-ring.ts'
import { createRejections, createSenderLog } from '../../ingest/rejections/rejections.ts'
import { memoryUsed } from '../support/memory-used.ts'

const max = 12
const senders = [
  { name: 'device porch', isKnown: true },
  { name: 'key 1', isKnown: true },
  { name: 'key 2', isKnown: true },
  { name: 'address 10.0.0.1', isKnown: false },
  { name: 'address 10.0.0.2', isKnown: false },
]
const rejections: fc.Arbitrary<Rejection> = fc.record({
  way: fc.constantFrom('put', 'mqtt'),
  sender: fc.constantFrom(...senders),
  device: fc.constantFrom('porch', undefined),
  reason: fc.constantFrom(...Array.from({ length: 9 }, (_, index) => `reason ${index}`)),
})
const additions = fc.array(fc.tuple(rejections, fc.integer({ min: 1, max: 1000 })), { maxLength: 200, size: 'max' })

interface Modelled extends Rejection {
  count: number
  firstMs: number
  latestMs: number
}

const shareOf = ({ sender }: Rejection) => (sender.isKnown ? sender.name : 'unknown')
const isSame = (one: Rejection, other: Rejection) =>
  one.way === other.way && one.sender === other.sender && one.device === other.device && one.reason === other.reason

/** Adds to the expected content, oldest first. */
function addTo(model: Modelled[], rejection: Rejection, count: number, nowMs: number): Modelled[] {
  const known = model.find(each => isSame(each, rejection))
  const added = { ...rejection, count: count + (known?.count ?? 0), firstMs: known?.firstMs ?? nowMs, latestMs: nowMs }
  const next = [...model.filter(each => each !== known), added]
  if (next.length <= max) return next
  const sizes = Map.groupBy(next, shareOf)
  const largest = Math.max(...[...sizes.values()].map(entries => entries.length))
  const dropped = next.find(each => sizes.get(shareOf(each))?.length === largest)
  return next.filter(each => each !== dropped)
}

function shown(entries: readonly Modelled[]) {
  return entries.map(({ sender, ...entry }) => ({ ...entry, sender: sender.name })).toReversed()
}

test('the buffer equals the model in pages of any size', async () => {
  const property = fc.property(additions, fc.integer({ min: 1, max: 5 }), (added, limit) => {
    const ring = new RejectionRing(max)
    let model: Modelled[] = []
    for (const [nowMs, [rejection, count]] of added.entries()) {
      ring.add(rejection, count, nowMs)
      model = addTo(model, rejection, count, nowMs)
    }
    const found = []
    for (let before: number | undefined; ; ) {
      const { entries, hasMore } = ring.list({ before, limit })
      assert.ok(entries.length > 0 || added.length === 0, 'no page is empty')
      found.push(...entries)
      if (!hasMore) break
      before = entries.at(-1)?.id
    }
    assert.deepEqual(
      found.map(({ id: _id, ...entry }) => entry),
      shown(model),
    )
    assert.equal(ring.size, model.length)
  })
  fc.assert(property)
})

test('untrusted texts are bounded to one line and leave no cut part in memory', async t => {
  const ring = new RejectionRing()
  const huge = 'x'.repeat(1 << 20)
  const entry = ring.add({ way: 'put', sender: { name: huge, isKnown: false }, device: huge, reason: huge }, 1, 0)
  t.strictSame([entry.sender.length, entry.device?.length, entry.reason.length], [160, 128, 256])
  const hostile = `a\nb\r\u0000\u001b[31m\u202e\u2028\ud800<b>`
  const { device } = ring.add({ way: 'put', sender: senders[0] as never, device: hostile, reason: '' }, 1, 0)
  t.equal(device, 'a\ufffdb\ufffd\ufffd\ufffd[31m\ufffd\ufffd\ufffd<b>')
  t.equal(ring.list({ limit: 9, device: hostile }).entries.length, 1, 'it is found by the name that was sent')
  ring.add({ way: 'put', sender: senders[0] as never, device: 'Ku\u0308che', reason: '' }, 1, 0)
  t.equal(ring.list({ limit: 9, device: 'Küche' }).entries.length, 1, 'in either form of Unicode')
})

test('the source of a sliced reason is not retained in memory', async t => {
  const ring = new RejectionRing()
  const before = memoryUsed()
  for (let index = 0; index < 100; index++) {
    const text = Buffer.alloc(1 << 19, `${index} `).toString('latin1')
    ring.add({ way: 'put', sender: senders[0] as never, reason: text.slice(0, 200) }, 1, 0)
  }
  t.ok(memoryUsed() - before < 10 << 20, 'of 50 MiB')
  t.equal(ring.size, 100)
})

test('a body costs a bounded number of entries that count all of its lines', async t => {
  const rejected = createRejections({ nowMs: () => 7, senderLog: () => undefined })
  const source = { way: 'batch', sender: senders[0] as never, device: 'porch' } as const
  const reasonOf = (index: number) => `field x${index >> 1} is not known`
  const rejects = Array.from({ length: 20_000 }, (_, index) => ({ device: 'a', reason: reasonOf(index) }))
  rejected.addLines(source, { rejected: 1_000_000, rejects })
  const { entries } = rejected.list({ limit: 1000 })
  t.equal(entries.length, 101)
  const reason = 'more lines of a body, whose reasons are not kept'
  t.match(entries[0], { device: 'porch', reason, count: 999_800 })
  t.match(entries[1], { device: 'a', reason: 'field x99 is not known', count: 2, firstMs: 7, latestMs: 7 })
  t.strictSame(rejected.status(), { sinceMs: 7, rejected: 1_000_000 })
  rejected.addLines(source, { rejected: 0, rejects: [] })
  t.equal(rejected.list({ limit: 1000 }).entries.length, 101, 'none for a body without rejects')
})

test('entries about an erased device are gone, others and the counts stay', t => {
  const rejected = createRejections({ nowMs: () => 7, senderLog: () => undefined })
  const add = (sender: string, device: string | undefined, isKnown = true) =>
    rejected.add({ way: 'put', sender: { name: sender, isKnown }, device, reason: 'temperature is wet' })
  add('device Ka\u0308lte', 'K\u00e4lte')
  add('device K\u00e4lte', 'Keller')
  add('device K\u00e4lte', undefined)
  add('key 7', 'Ka\u0308lte')
  add('key 7', 'Keller')
  add('address 127.0.0.1', undefined, false)
  rejected.forget('K\u00e4lte')
  const [ofAddress, ofKey, ...others] = rejected.list({ limit: 10 }).entries
  t.match(ofAddress, { sender: 'address 127.0.0.1', device: undefined })
  t.match(ofKey, { sender: 'key 7', device: 'Keller' })
  t.strictSame(others, [])
  t.equal(rejected.status().rejected, 6)
  add('device K\u00e4lte', 'K\u00e4lte')
  t.equal(rejected.list({ limit: 10 }).entries.length, 3, 'another device of the name')
  t.end()
})

test('a bounded number of senders log a line a minute each', async t => {
  let nowMs = 0
  const lines: string[] = []
  const push = (_fields: object, text: string) => void lines.push(text)
  const tell = createSenderLog({ warn: push, error: push } as never, () => nowMs)
  const linesOf = (...keys: string[]) => {
    lines.length = 0
    for (const key of keys) tell(key, 'warn', {}, key)
    return [...lines]
  }
  t.strictSame(linesOf('a', 'a', 'b'), ['a', 'b'])
  nowMs = 59_999
  t.strictSame(linesOf('a', 'c'), ['c'])
  nowMs = 60_000
  t.strictSame(linesOf('a', 'b', 'c'), ['a', 'b'])
  nowMs = 200_000
  const many = Array.from({ length: 1500 }, (_, index) => `sender ${index}`)
  t.strictSame(linesOf(...many), many.slice(0, 1000), 'no more than a thousand a minute')
  t.strictSame(linesOf('a'), [])
  nowMs = 260_000
  t.strictSame(linesOf('a', ...many.slice(0, 5)), ['a', ...many.slice(0, 5)])
})
