import fc from 'fast-check'
import { test } from 'tap'
import { ByteBudget } from '../../../store/limits/byte-budget.ts'

/** The same rule over sums that are made anew each time; a negative number gives bytes back. */
function agrees(budget: ByteBudget, held: Map<string, number>, key: string, bytes: number): boolean {
  const has = held.get(key) ?? 0
  if (bytes < 0) {
    budget.release(key, Math.min(has, -bytes))
    held.set(key, Math.max(0, has + bytes))
    return true
  }
  const hasRoom = has + bytes <= 1024 - sumOf(held) - bytes
  if (hasRoom) held.set(key, has + bytes)
  return budget.take(key, bytes) === hasRoom
}

test('all bytes together have a bound, and each key that comes finds room', async () => {
  const keys = fc.constantFrom('a', 'b', 'c', 'd')
  const steps = fc.array(fc.tuple(keys, fc.integer({ min: -300, max: 300 })), { maxLength: 100 })
  const property = fc.property(steps, given => {
    const budget = new ByteBudget(1024)
    const held = new Map<string, number>()
    const areAgreed = given.every(([key, bytes]) => agrees(budget, held, key, bytes))
    return areAgreed && sumOf(held) <= 1024 && budget.take('new', 1)
  })
  fc.assert(property)
})

function sumOf(held: ReadonlyMap<string, number>): number {
  return [...held.values()].reduce((sum, bytes) => sum + bytes, 0)
}
