/** Token buckets by key, against a model that works out each bucket from all that was ever taken of it. */

import fc from 'fast-check'
import { LRUCache } from 'lru-cache'
import { test } from 'tap'
import { type Bucket, PartialBuckets, type Rate, TokenBuckets } from '../../limits/token-buckets.ts'

// Powers of two, so that the sums of the model and those of the buckets are exact.
const rate: Rate = { perSecond: 4, burst: 8 }
const stepMs = 125

const step = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  passMs: fc.integer({ min: -4, max: 40 }).map(steps => steps * stepMs),
  kind: fc.constantFrom('take' as const, 'wait' as const, 'spend' as const),
  /** Of what is spent. */
  count: fc.nat(20),
})
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** Keeps all that was spent, and goes through it for each question. A clock that is set back fills nothing. */
class Model {
  readonly #history: { atMs: number; key: string; count: number }[] = []

  note(atMs: number, key: string, count: number): void {
    this.#history.push({ atMs, key, count })
  }

  tokens(key: string, nowMs: number): number {
    let tokens = rate.burst
    let lastMs: number | undefined
    for (const { atMs, count } of [...this.#history, { atMs: nowMs, key, count: 0 }].filter(each => each.key === key)) {
      const passedMs = Math.max(0, atMs - (lastMs ?? atMs))
      tokens = Math.min(rate.burst, tokens + (passedMs * rate.perSecond) / 1000) - count
      lastMs = atMs
    }
    return tokens
  }
}

function agreesWithModel(steps: readonly Step[], buckets: (nowMs: () => number) => TokenBuckets<string>): boolean {
  let nowMs = 1_000_000
  const model = new Model()
  const limit = buckets(() => nowMs)
  return steps.every(({ key, passMs, kind, count }) => {
    nowMs += passMs
    const tokens = model.tokens(key, nowMs)
    const waitMs = Math.max(0, ((1 - tokens) / rate.perSecond) * 1000)
    if (kind === 'take') model.note(nowMs, key, tokens < 1 ? 0 : 1)
    else model.note(nowMs, key, kind === 'spend' ? count : 0)
    if (kind === 'take') return limit.take(key) === tokens >= 1
    if (kind === 'wait') return limit.waitMs(key) === waitMs
    limit.spend(key, count)
    return true
  })
}

test('buckets hold what the model says, in whichever store', async t => {
  const stores = [() => undefined, () => new LRUCache<string, Bucket>({ max: 10 }), () => new Map<string, Bucket>()]
  for (const store of stores) {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps =>
        agreesWithModel(steps, nowMs => new TokenBuckets(rate, nowMs, store())),
      ),
    )
  }
  t.pass('for every order of steps')
})

test('the store of its own drops full buckets, whenever there are twice as many as were left', async t => {
  const buckets = new PartialBuckets<number>(({ tokens }) => tokens === 2)
  const put = (from: number, to: number, tokens: number) => {
    for (let key = from; key < to; key++) buckets.set(key, { tokens, filledAtMs: 0 })
  }
  put(0, 600, -5)
  put(600, 1000, 2)
  t.equal(buckets.size, 1000)
  put(1000, 1001, 2)
  t.equal(buckets.size, 601, 'those in debt and the new one')
  put(1001, 1600, 2)
  t.equal(buckets.size, 1200)
  put(1600, 1601, 2)
  t.equal(buckets.size, 601)
  t.strictSame(
    [...buckets.keys()].slice(0, 600),
    Array.from({ length: 600 }, (_, key) => key),
  )
})

test('ten thousand that owe nothing leave a debt as it is', async t => {
  let nowMs = 0
  const limit = new TokenBuckets<number>({ perSecond: 1, burst: 2 }, () => nowMs)
  limit.spend(-1, 20_000)
  for (let key = 0; key < 10_000; key++, nowMs += 1) limit.take(key)
  t.equal(limit.waitMs(-1), (20_000 - 1) * 1000 - nowMs)
})

test('a store with a bound of its own decides what is forgotten', async t => {
  const limit = new TokenBuckets<string>({ perSecond: 1, burst: 1 }, () => 0, new LRUCache<string, Bucket>({ max: 2 }))
  t.strictSame([limit.take('a'), limit.take('b'), limit.take('a')], [true, true, false])
  t.equal(limit.take('c'), true, 'the bucket of b makes room')
  t.strictSame([limit.take('a'), limit.take('b')], [false, true])
})
