/** Shares of slots or bytes that slow holders lose, against a model that looks at all holders for each answer. */

import fc from 'fast-check'
import { test } from 'tap'
import { Capacity } from '../../../store/limits/capacity.ts'
import { runs } from '../../support/runs.ts'

const max = 10
const patienceMs = 100
const keys = ['a', 'b']

interface Held {
  holder: number
  keys: string[]
  amount: number
  waitingSince?: { ms: number; order: number } | undefined
}

/** The holders in an array; whoever has been waited for longest is searched for. */
class Model {
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
      if (longest === undefined || nowMs - (longest.waitingSince?.ms ?? 0) < patienceMs) return false
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

const step = fc.record({
  kind: fc.constantFrom('take' as const, 'wait' as const, 'stop waiting' as const, 'release' as const),
  keys: fc.subarray(keys),
  amount: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant(14)),
  /** How many have come since the one that is meant. */
  back: fc.nat(5),
  passMs: fc.nat(60),
})

test('it admits, refuses and evicts as the model does', async () => {
  const property = fc.property(fc.array(step, { maxLength: 80 }), steps => {
    let nowMs = 0
    const evicted: number[] = []
    const evict = (holder: number) => void evicted.push(holder)
    const capacity = new Capacity<number>({ max, eviction: { patienceMs, nowMs: () => nowMs, evict } })
    const model = new Model()
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

test('without an eviction nobody gives way, and nobody takes twice', async t => {
  const capacity = new Capacity<string>({ max: 1 })
  t.ok(capacity.take('slow'))
  capacity.wait('slow', true)
  t.notOk(capacity.take('other'))
  t.strictSame([...capacity.holders()], ['slow'])
  t.throws(() => capacity.take('slow'), /a holder takes twice/)
})
