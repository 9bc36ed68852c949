/** Token buckets by key, against a model that works out each bucket from all that was ever taken of it. */

import fc from 'fast-check'
import { LRUCache } from 'lru-cache'
import { test } from 'tap'
import { sharedCount, sharedRate } from '../../../store/limits/shared-rate.ts'
import { type Bucket, PartialBuckets, type Rate, TokenBuckets } from '../../../store/limits/token-buckets.ts'

// Powers of two, so that the sums of the model and those of the buckets are exact.
const rate: Rate = { perSecond: 4, burst: 8 }
const rates: readonly Rate[] = [
  rate,
  { perSecond: 2, burst: 4 },
  { perSecond: 1, burst: 2 },
  { perSecond: 8, burst: 4 },
]
const stepMs = 125

const step = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  passMs: fc.integer({ min: -4, max: 40 }).map(steps => steps * stepMs),
  kind: fc.constantFrom('take' as const, 'wait' as const, 'spend' as const, 'rate' as const),
  /** Of what is spent; or which rate there is from now on. */
  count: fc.nat(20),
})
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** Keeps all that was asked, and goes through it for each question. A clock that is set back fills nothing. */
class Model {
  readonly #history: { atMs: number; key: string; count: number; rate: Rate }[] = []

  note(atMs: number, key: string, count: number, rate: Rate): void {
    this.#history.push({ atMs, key, count, rate })
  }

  /** Of the key, as if it had been there from the start. */
  tokens(key: string, nowMs: number, rateNow: Rate): number {
    let tokens = rate.burst
    let [last, lastMs] = [rate, Number.POSITIVE_INFINITY]
    for (const each of [...this.#history, { atMs: nowMs, key: '', count: 0, rate: rateNow }]) {
      const passedMs = Math.max(0, each.atMs - lastMs)
      tokens = Math.min(last.burst, tokens + (passedMs * last.perSecond) / 1000)
      tokens = Math.min(each.rate.burst, tokens) - (each.key === key ? each.count : 0)
      last = each.rate
      lastMs = each.atMs
    }
    return tokens
  }
}

type MadeBuckets = (nowMs: () => number, rate: () => Rate) => TokenBuckets<string>

function agreesWithModel(steps: readonly Step[], buckets: MadeBuckets): boolean {
  let [nowMs, rateNow] = [1_000_000, rate]
  const model = new Model()
  const [clock, rateOfNow] = [() => nowMs, () => rateNow]
  const limit = buckets(clock, rateOfNow)
  return steps.every(({ key, passMs, kind, count }) => {
    nowMs += passMs
    if (kind === 'rate') {
      rateNow = rates[count % rates.length] ?? rate
      return true
    }
    const tokens = model.tokens(key, nowMs, rateNow)
    const waitMs = Math.max(0, ((1 - tokens) / rateNow.perSecond) * 1000)
    if (kind === 'take') model.note(nowMs, key, tokens < 1 ? 0 : 1, rateNow)
    else model.note(nowMs, key, kind === 'spend' ? count : 0, rateNow)
    if (kind === 'take') return limit.take(key) === tokens >= 1
    if (kind === 'wait') return limit.waitMs(key) === waitMs
    limit.spend(key, count)
    return true
  })
}

test('buckets hold what the model says, in whichever store', async () => {
  const stores = [() => undefined, () => new LRUCache<string, Bucket>({ max: 10 }), () => new Map<string, Bucket>()]
  for (const store of stores) {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps =>
        agreesWithModel(steps, (nowMs, rateNow) => new TokenBuckets(rateNow, nowMs, store())),
      ),
    )
  }
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
  t.strictSame([...buckets.keys()].slice(0, 600), [...Array(600).keys()])
})

test('ten thousand that owe nothing leave a debt as it is', async t => {
  let nowMs = 0
  const limit = new TokenBuckets<number>({ perSecond: 1, burst: 2 }, () => nowMs)
  limit.spend(-1, 20_000)
  for (let key = 0; key < 10_000; key++, nowMs += 1) limit.take(key)
  t.equal(limit.waitMs(-1), (20_000 - 1) * 1000 - nowMs)
})

test('a rate that is shared is one part of it, the same object while it is the same, with a burst of one at least', t => {
  let nodes = 2
  const rateNow = sharedRate({ perSecond: 10, burst: 100 }, () => nodes)
  t.strictSame(rateNow(), { perSecond: 5, burst: 50 })
  t.equal(rateNow(), rateNow())
  nodes = 1_000
  t.strictSame(rateNow(), { perSecond: 1, burst: 1 })
  t.end()
})

test('a count that is shared is never more in all, and never less than one each', async t => {
  const counts = [1, 2, 3, 20].map(nodes => sharedCount(10, () => nodes))
  t.strictSame(counts, [10, 5, 3, 1])
})
