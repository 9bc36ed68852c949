/** Limits: budgets of bytes, capacities with evictions, mutexes, semaphores and token buckets. */

import fc from 'fast-check'
import { LRUCache } from 'lru-cache'
import { test } from 'tap'
import { ByteBudget, Capacity } from '../../store/limits/capacity.ts'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { createMutex } from '../../store/limits/mutex.ts'
import { type Asker, createSemaphore } from '../../store/limits/semaphore.ts'
import {
  type Bucket,
  PartialBuckets,
  type Rate,
  sharedCount,
  sharedRate,
  TokenBuckets,
} from '../../store/limits/token-buckets.ts'

/** Works that the test ends, and their observed results. */

interface Seen {
  started: number[]
  /** Outcomes by work. */
  outcomes: Record<number, string>
}

function startWorks() {
  const seen: Seen = { started: [], outcomes: {} }
  const running: ((isDone: boolean) => void)[] = []

  /** Requests the work. `run` limits it. */
  async function ask(id: number, run: (work: () => Promise<string>) => Promise<string>): Promise<void> {
    async function work(): Promise<string> {
      seen.started.push(id)
      if (await new Promise<boolean>(end => running.push(end))) return 'done'
      throw new Error('failed')
    }
    seen.outcomes[id] = await run(work).catch((error: Error) => error.message)
  }

  return { seen, ask, end: (at: number, isDone: boolean) => running.splice(at % running.length, 1)[0]?.(isDone) }
}

const settled = () => new Promise(setImmediate)

test('a key holds at most as much as it leaves free', async t => {
  const budget = new ByteBudget(1024)
  t.strictSame(
    [budget.take('a', 512), budget.take('a', 1), budget.take('b', 256), budget.take('b', 1)],
    [true, false, true, false],
  )
  budget.release('a', 500)
  t.strictSame([budget.take('b', 239), budget.take('b', 239)], [true, false])
  budget.release('a', 12)
  t.strictSame([budget.take('a', 265), budget.take('a', 264), budget.take('new', 1)], [false, true, true])
})

test('without room, holders that have kept the service waiting for long give way, the longest wait first', async t => {
  let nowMs = 0
  const evicted: string[] = []
  const evict = (holder: string) => void evicted.push(holder)
  const capacity = new Capacity<string>({ max: 10, eviction: { waitMsMax: 100, nowMs: () => nowMs, evict } })
  const mayTake = (holder: string, atMs: number, amount: number) => {
    nowMs = atMs
    return capacity.take(holder, [], amount)
  }
  t.ok(capacity.take('alone', ['a'], 14), 'a single holder may have any amount')
  t.strictSame([capacity.release('alone'), capacity.release('alone')], [true, false])
  t.ok(capacity.take('one', ['a', 'b'], 4) && capacity.take('two', ['a'], 4))
  t.strictSame([capacity.amountOf('a'), capacity.amountOf('b')], [8, 4])
  t.strictSame([capacity.isFull(2), capacity.isFull(3)], [false, true])
  for (const holder of ['two', 'gone']) capacity.wait(holder, true)
  nowMs = 50
  capacity.wait('one', true)
  t.strictSame([mayTake('three', 99, 3), mayTake('three', 149, 3), evicted], [false, true, ['two']])
  capacity.wait('one', true)
  t.notOk(mayTake('four', 200, 5), 'the wait has begun again')
  capacity.wait('one', false)
  t.notOk(mayTake('four', 400, 5), 'the wait has ended')
  capacity.wait('one', true)
  t.strictSame([mayTake('four', 500, 5), evicted], [true, ['two', 'one']])
  t.strictSame([capacity.release('one'), capacity.amountOf('a'), ...capacity.holders()], [false, 0, 'three', 'four'])
})

test('each holder gives way once and only by an eviction', async t => {
  const capacity = new Capacity<string>({ max: 1 })
  t.ok(capacity.take('slow'))
  capacity.wait('slow', true)
  t.notOk(capacity.take('other'))
  t.strictSame([...capacity.holders()], ['slow'])
  t.throws(() => capacity.take('slow'), /a holder takes twice/)
})

test('detached memory has no length, nor has other memory of the same buffer', async t => {
  const column = new Float64Array(1000)
  const part = column.subarray(10, 20)
  const other = new Float64Array(5)
  detachBuffers([column, part])
  t.strictSame([column.length, part.length, other.length], [0, 0, 5])
  detachBuffers([column])
  t.equal(column.length, 0, 'a second time changes nothing')
})

test("memory that threads share stays, as does Node's pool with other buffers", async t => {
  const shared = new Float64Array(new SharedArrayBuffer(80))
  const [short, other] = [Buffer.from('short'), Buffer.from('other')]
  detachBuffers([shared, short])
  t.strictSame([shared.length, short.toString(), other.toString()], [10, 'short', 'other'])
})

const worksMax = 3

function startMutex() {
  const mutex = createMutex(worksMax)
  const { seen, ask, end } = startWorks()
  const askFor = (id: number, how: 'run' | 'tryRun') => ask(id, work => mutex[how](work))
  return { mutex, seen, ask: askFor, end: (isDone: boolean) => end(0, isDone) }
}

test('works run one at a time in order, with failures for their caller alone, and then it is idle', async t => {
  const { mutex, seen, ask, end } = startMutex()
  const asked = [ask(0, 'run'), ask(1, 'tryRun'), ask(2, 'run'), ask(3, 'tryRun'), ask(4, 'run')]
  let isIdle = false
  const idle = mutex.idle().then(() => {
    isIdle = true
  })
  for (const [at, isDone] of [true, false, true, true].entries()) {
    await settled()
    t.notOk(isIdle)
    t.equal(seen.started.length, at + 1)
    end(isDone)
  }
  await Promise.all([idle, ...asked])
  await mutex.idle()
  void ask(5, 'tryRun')
  await settled()
  t.strictSame(seen.started, [0, 1, 2, 4, 5], 'it has room again')
  t.strictSame(seen.outcomes, { 0: 'done', 1: 'failed', 2: 'done', 3: 'full', 4: 'done' })
})

const limits = { runningMax: 2, waitingMax: 4, waitingOfAccountMax: 3 }

function startSemaphore() {
  const semaphore = createSemaphore({ ...limits, refusal: () => new Error('refused') })
  const { seen, ask, end } = startWorks()
  return { seen, end, ask: (id: number, asker: Asker) => ask(id, work => semaphore.run(asker, work)) }
}

/** `am` is a work of the account a and the network m; `-` ends the first one that runs. */
const semaphoreCases: [what: string, steps: string, started: number[], refused: number[]][] = [
  ['two run at a time, the others wait in their order', 'am bm cm dm - -', [0, 1, 2, 3], []],
  ['of an account and network one runs at a time', 'am am bm an -', [0, 2, 1], []],
  ['three of an account wait', 'am am am am am', [0], [4]],
  ['four wait', 'am bm cm dm cn do en', [0, 1], [6]],
  ['the network with most waiting works yields its newest', 'am bm cm dm em fm gn', [0, 1], [5]],
  ['within an account as well', 'am an am am am ao', [0, 1], [4]],
]

test('works start, wait and are refused by their account and network', async t => {
  for (const [what, steps, started, refused] of semaphoreCases) {
    const { seen, ask, end } = startSemaphore()
    let id = 0
    for (const [account = '', network = ''] of steps.split(' ')) {
      if (account === '-') end(0, true)
      else void ask(id++, { account, network })
      await settled()
    }
    t.strictSame(seen.started, started, what)
    const found = Object.keys(seen.outcomes).filter(one => seen.outcomes[Number(one)] === 'refused')
    t.strictSame(found.map(Number), refused, what)
  }
})

test('a place that is free goes to who waits, not to who comes at that moment', async t => {
  const { seen, ask, end } = startSemaphore()
  const asked = [0, 1, 2].map(id => ask(id, { account: `a${id}`, network: 'n' }))
  await settled()
  end(0, false)
  await Promise.all(asked.slice(0, 1))
  asked.push(ask(3, { account: 'a3', network: 'n' }))
  for (let ended = 0; ended < 3; ended++) {
    await settled()
    end(0, true)
  }
  await Promise.all(asked)
  t.strictSame(seen, { started: [0, 1, 2, 3], outcomes: { 0: 'failed', 1: 'done', 2: 'done', 3: 'done' } })
})

// Powers of two keep the sums of the model and of the buckets exact.
const rate: Rate = { perSecond: 4, burst: 8 }
const rates: readonly Rate[] = [
  rate,
  { perSecond: 2, burst: 4 },
  { perSecond: 1, burst: 2 },
  { perSecond: 8, burst: 4 },
]
const stepMs = 125

const bucketStep = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  passMs: fc.integer({ min: -4, max: 40 }).map(steps => steps * stepMs),
  kind: fc.constantFrom('take' as const, 'wait' as const, 'spend' as const, 'rate' as const),
  /** The spent count, or the rate from now on. */
  count: fc.nat(20),
})
type Step = typeof bucketStep extends fc.Arbitrary<infer Value> ? Value : never

/** Keeps all that was asked, and goes through it for each question. A clock that is set back fills nothing. */
class BucketModel {
  readonly #history: { atMs: number; key: string; count: number; rate: Rate }[] = []

  note(atMs: number, key: string, count: number, rate: Rate): void {
    this.#history.push({ atMs, key, count, rate })
  }

  /** Tokens of the key as if it had always existed. */
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
  const model = new BucketModel()
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

test('buckets equal the model in either store', async () => {
  const stores = [() => undefined, () => new LRUCache<string, Bucket>({ max: 10 }), () => new Map<string, Bucket>()]
  for (const store of stores) {
    fc.assert(
      fc.property(fc.array(bucketStep, { maxLength: 60 }), steps =>
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

test('shares of a count never exceed its total and are at least one', async t => {
  const counts = [1, 2, 3, 20].map(nodes => sharedCount(10, () => nodes))
  t.strictSame(counts, [10, 5, 3, 1])
})
