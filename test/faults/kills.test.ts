/** Kills under load with a fixed seed: the short form of `npm run faults`. `test/long/` has more of each, with random seeds. */

import { test } from 'tap'
import { killInShort } from './rows/kills.ts'
import { isClean } from './tally.ts'
import { startTestHarness } from './test-harness.ts'

test('kills under load neither lose, repeat nor reorder acknowledged readings and points', async t => {
  const harness = await startTestHarness(t, 20_261_125)
  const tally = await harness.run('killed', 1, killInShort)
  t.ok(isClean(tally), JSON.stringify(tally))
  t.ok(tally.acknowledged > 0)
  t.equal(tally.crashes, 5)
})
