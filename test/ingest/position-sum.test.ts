/** Positions of several topics as one number; fast-check prints the seed of a run that fails. */

import fc from 'fast-check'
import { test } from 'tap'
import { PositionSum } from '../../ingest/kafka/position-sum.ts'
import { runs } from '../support/runs.ts'

test('a moment has passed when every topic has passed it', async t => {
  const sum = new PositionSum([10, 0])
  t.equal(sum.passed([9, 0]), 0)
  t.equal(sum.passed([10, 0]), 10)
  const moment = sum.at([10, 5])
  t.equal(moment, 15)
  t.equal(sum.passed([100, 4]), 10, 'one topic goes on, the other one does not')
  t.equal(sum.at([8, 5]), 15, 'no topic becomes shorter')
  t.equal(sum.passed([100, 5]), 15)
})

const step = fc.tuple(fc.constantFrom('end', 'applied'), fc.nat(1), fc.integer({ min: 1, max: 5 }))

test('whatever topics do, no number has passed before all that it stands for', async t => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 3000 }), steps => {
      const ends: [number, number] = [0, 0]
      const applied: [number, number] = [0, 0]
      const sum = new PositionSum(ends.slice())
      const moments: { number: number; ends: number[] }[] = []
      for (const [kind, topic, by] of steps) {
        const of = topic as 0 | 1
        if (kind === 'end') ends[of] += by
        else applied[of] = Math.min(applied[of] + by, ends[of])
        moments.push({ number: sum.at(ends.slice()), ends: ends.slice() })
        const passed = sum.passed(applied)
        const wrong = moments.find(({ number, ends: [a = 0, b = 0] }) => {
          return number <= passed && (applied[0] < a || applied[1] < b)
        })
        if (wrong !== undefined) return false
      }
      return sum.passed(ends) === sum.at(ends)
    }),
    runs(4, 20),
  )
  t.pass('a failure throws')
})
