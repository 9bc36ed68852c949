/** Limits against models: budgets of bytes, capacities with evictions, mutexes, semaphores and token buckets. */

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
import { runs } from '../support/runs.ts'

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

/** The same rule over recomputed sums. A negative number returns bytes. */
function agrees(budget: ByteBudget, held: Map<string, number>, key: string, bytes: number): boolean {
  const has = held.get(key) ?? 0
  if (bytes < 0) {
    budget.release(key, Math.min(has, -bytes))
    held.set(key, Math.max(0, has + bytes))
    return true
  }
  const hasRoom = has + bytes <= 1024 - bytesOf(held) - bytes
  if (hasRoom) held.set(key, has + bytes)
  return budget.take(key, bytes) === hasRoom
}

test('all bytes have a common limit in which each new key finds room', async () => {
  const keys = fc.constantFrom('a', 'b', 'c', 'd')
  const steps = fc.array(fc.tuple(keys, fc.integer({ min: -300, max: 300 })), { maxLength: 100 })
  const property = fc.property(steps, given => {
    const budget = new ByteBudget(1024)
    const held = new Map<string, number>()
    const areAgreed = given.every(([key, bytes]) => agrees(budget, held, key, bytes))
    return areAgreed && bytesOf(held) <= 1024 && budget.take('new', 1)
  })
  fc.assert(property)
})

function bytesOf(held: ReadonlyMap<string, number>): number {
  return [...held.values()].reduce((sum, bytes) => sum + bytes, 0)
}

const max = 10
const waitMsMax = 100
const keys = ['a', 'b']

interface Held {
  holder: number
  keys: string[]
  amount: number
  waitingSince?: { ms: number; order: number } | undefined
}

/** The holders in an array, searched for the longest wait. */
class CapacityModel {
  held: Held[] = []
  evicted: number[] = []
  #order = 0

  amountOf(key: string): number {
    return sumOf(this.held.filter(each => each.keys.includes(key)))
  }

  isFull(amount: number): boolean {
    return this.held.length > 0 && sumOf(this.held) + amount > max
  }

  take(holder: number, keys: string[], amount: number, nowMs: number): boolean {
    while (this.isFull(amount)) {
      const waiting = this.held.filter(each => each.waitingSince !== undefined)
      const [longest] = waiting.sort((a, b) => (a.waitingSince?.order ?? 0) - (b.waitingSince?.order ?? 0))
      if (longest === undefined || nowMs - (longest.waitingSince?.ms ?? 0) < waitMsMax) return false
      this.release(longest.holder)
      this.evicted.push(longest.holder)
    }
    this.held.push({ holder, keys, amount })
    return true
  }

  wait(holder: number, isWaiting: boolean, nowMs: number): void {
    const held = this.held.find(each => each.holder === holder)
    if (held !== undefined) held.waitingSince = isWaiting ? { ms: nowMs, order: this.#order++ } : undefined
  }

  release(holder: number): boolean {
    const before = this.held.length
    this.held = this.held.filter(each => each.holder !== holder)
    return this.held.length < before
  }
}

function sumOf(held: readonly Held[]): number {
  return held.reduce((total, each) => total + each.amount, 0)
}

const capacityStep = fc.record({
  kind: fc.constantFrom('take' as const, 'wait' as const, 'stop waiting' as const, 'release' as const),
  keys: fc.subarray(keys),
  amount: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant(14)),
  /** How many have come since the one that is meant. */
  back: fc.nat(5),
  passMs: fc.nat(60),
})

test('it admits, refuses and evicts as the model does', async () => {
  const property = fc.property(fc.array(capacityStep, { maxLength: 80 }), steps => {
    let nowMs = 0
    const evicted: number[] = []
    const evict = (holder: number) => void evicted.push(holder)
    const capacity = new Capacity<number>({ max, eviction: { waitMsMax, nowMs: () => nowMs, evict } })
    const model = new CapacityModel()
    let holders = 0
    const agrees = ({ kind, keys, amount, back }: (typeof steps)[number]) => {
      const holder = kind === 'take' ? holders++ : holders - 1 - back
      if (kind === 'take') return capacity.take(holder, keys, amount) === model.take(holder, keys, amount, nowMs)
      if (kind === 'release') return capacity.release(holder) === model.release(holder)
      capacity.wait(holder, kind === 'wait')
      model.wait(holder, kind === 'wait', nowMs)
      return true
    }
    return steps.every(step => {
      nowMs += step.passMs
      return (
        agrees(step) &&
        evicted.join() === model.evicted.join() &&
        [...capacity.holders()].join() === model.held.map(({ holder }) => holder).join() &&
        capacity.isFull(step.amount) === model.isFull(step.amount) &&
        keys.every(key => capacity.amountOf(key) === model.amountOf(key))
      )
    })
  })
  fc.assert(property, runs(500, 2000))
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

class MutexModel {
  readonly seen: Seen = { started: [], outcomes: {} }
  #queue: number[] = []

  ask(id: number, how: 'run' | 'tryRun'): void {
    if (how === 'tryRun' && this.#queue.length >= worksMax) this.seen.outcomes[id] = 'full'
    else if (this.#queue.push(id) === 1) this.seen.started.push(id)
  }

  end(isDone: boolean): void {
    const [ended, next] = this.#queue
    if (ended !== undefined) this.seen.outcomes[ended] = isDone ? 'done' : 'failed'
    if (next !== undefined) this.seen.started.push(next)
    this.#queue = this.#queue.slice(1)
  }
}

test('works run one at a time in order, with failures for their caller alone', async () => {
  const step = fc.constantFrom('run' as const, 'tryRun' as const, true, false)
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
    const works = startMutex()
    const model = new MutexModel()
    for (const [id, what] of steps.entries()) {
      for (const each of [works, model]) {
        if (typeof what === 'boolean') each.end(what)
        else void each.ask(id, what)
      }
      await settled()
      if (JSON.stringify(works.seen) !== JSON.stringify(model.seen)) return false
    }
    return true
  })
  await fc.assert(property)
})

test('it is idle when all that was asked for has ended', async t => {
  const { mutex, ask, end } = startMutex()
  const asked = [ask(0, 'run'), ask(1, 'run'), ask(2, 'tryRun')]
  let isIdle = false
  const idle = mutex.idle().then(() => {
    isIdle = true
  })
  for (const isDone of [true, false, true]) {
    await settled()
    t.notOk(isIdle)
    end(isDone)
  }
  await Promise.all([idle, ...asked])
  await mutex.idle()
})

const limits = { runningMax: 2, waitingMax: 4, waitingOfAccountMax: 3 }

function startSemaphore() {
  const semaphore = createSemaphore({ ...limits, refusal: () => new Error('refused') })
  const { seen, ask, end } = startWorks()
  return { seen, end, ask: (id: number, asker: Asker) => ask(id, work => semaphore.run(asker, work)) }
}

interface Work extends Asker {
  id: number
}

class SemaphoreModel {
  readonly seen: Seen = { started: [], outcomes: {} }
  #running: Work[] = []
  #waiting: Work[] = []

  ask(id: number, asker: Asker): void {
    const work = { id, ...asker }
    if (this.#canStart(work)) this.#start(work)
    else if (this.#findPlace(work)) this.#waiting.push(work)
    else this.seen.outcomes[id] = 'refused'
  }

  end(at: number, isDone: boolean): void {
    const [ended] = this.#running.splice(at % this.#running.length, 1)
    if (ended === undefined) return
    this.seen.outcomes[ended.id] = isDone ? 'done' : 'failed'
    const next = this.#waiting.find(work => this.#canStart(work))
    this.#waiting = this.#waiting.filter(work => work !== next)
    if (next !== undefined) this.#start(next)
  }

  #canStart({ account, network }: Asker): boolean {
    const isItsOwn = (other: Asker) => other.account === account && other.network === network
    return this.#running.length < limits.runningMax && !this.#running.some(isItsOwn)
  }

  #start(work: Work): void {
    this.#running.push(work)
    this.seen.started.push(work.id)
  }

  #findPlace(work: Work): boolean {
    const ofAccount = this.#waiting.filter(other => other.account === work.account)
    if (ofAccount.length === limits.waitingOfAccountMax) return this.#displace(ofAccount, work)
    return this.#waiting.length < limits.waitingMax || this.#displace(this.#waiting, work)
  }

  /** The longest-waiting network among those with most works loses its newest work. */
  #displace(among: Work[], { network }: Work): boolean {
    const countOf = (one: string) => among.filter(other => other.network === one).length
    const most = Math.max(...among.map(other => countOf(other.network)))
    if (most - countOf(network) < 2) return false
    const largest = among.find(other => countOf(other.network) === most)?.network
    const newest = among.findLast(other => other.network === largest)
    this.#waiting = this.#waiting.filter(other => other !== newest)
    if (newest !== undefined) this.seen.outcomes[newest.id] = 'refused'
    return true
  }
}

test('works start, wait and are refused as in the model', async () => {
  const asker = fc.record({ account: fc.constantFrom('ada', 'bob', 'eve'), network: fc.constantFrom('m', 'n', 'o') })
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ asker }) },
    { weight: 1, arbitrary: fc.record({ at: fc.nat(1), isDone: fc.boolean() }) },
  )
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
    const works = startSemaphore()
    const model = new SemaphoreModel()
    for (const [id, what] of steps.entries()) {
      for (const each of [works, model]) {
        if ('asker' in what) void each.ask(id, what.asker)
        else each.end(what.at, what.isDone)
      }
      await settled()
      if (JSON.stringify(works.seen) !== JSON.stringify(model.seen)) return false
    }
    return true
  })
  await fc.assert(property, runs(300, 1000))
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
