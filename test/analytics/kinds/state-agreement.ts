/** The time that two devices spend in the same state: by hand, and against a check of every second. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { stateAgreement } from '../../../analytics/state/state-durations.ts'
import { type StateRuns, stateRuns } from '../../../analytics/state/state-runs.ts'
import { samplesOf } from '../series.ts'

/** States by their seconds. */
type States = Readonly<Record<number, number>>

/** A state lasts for an hour at most. */
function runsOf(states: States, nowSeconds: number): StateRuns {
  return stateRuns({
    ...samplesOf(states, 1000),
    cadence: cadenceOf(new Float64Array(0), null),
    nowMs: nowSeconds * 1000,
    holdMaxMs: 3_600_000,
  })
}

const agreement = (a: States, b: States, from: number, until: number) =>
  stateAgreement(runsOf(a, until), runsOf(b, until), { startMs: from * 1000, endMs: until * 1000 })

test('time in which either state is unknown does not count', async t => {
  const a = { 0: 1, 100: 300, 200: 1 }
  const b = { 50: 1 }
  // b is unknown before 50, a from 100 to 200, where its value is not a state.
  t.strictSame(agreement(a, b, 0, 300), { known_seconds: 150, same_seconds: 150, same_share: 1 })
  t.strictSame(agreement(a, {}, 0, 300), { known_seconds: 0, same_seconds: 0, same_share: null })
  t.strictSame(agreement(a, b, 400, 400), { known_seconds: 0, same_seconds: 0, same_share: null })
})

test('the seconds match a check of each second', async () => {
  const pairs = fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.constantFrom(0, 1, 2, 999)), { maxLength: 12 })
  const samples = pairs.map((some): States => Object.fromEntries(some))
  const stateAt = (of: States, second: number) => {
    const state = Object.entries(of).findLast(([at]) => Number(at) <= second)?.[1]
    return state === 999 ? undefined : state
  }
  const property = fc.property(samples, samples, fc.integer({ min: 0, max: 70 }), (a, b, from) => {
    const until = 70
    let [known, same] = [0, 0]
    for (let second = from; second < until; second++) {
      const [ofA, ofB] = [stateAt(a, second), stateAt(b, second)]
      if (ofA === undefined || ofB === undefined) continue
      known++
      if (ofA === ofB) same++
    }
    const { known_seconds, same_seconds } = agreement(a, b, from, until)
    assert.deepEqual([known_seconds, same_seconds], [known, same])
  })
  fc.assert(property)
})
