/** Changes of devices while PostgreSQL is frozen, the short form of `npm run faults -- --rows 26`. */

import { test } from 'tap'
import { changeWhileFrozen } from './rows/frozen-changes.ts'
import { isClean } from './tally.ts'
import { startTestHarness } from './test-harness.ts'

test('a frozen PostgreSQL refuses changes for good, and known devices never notice', async t => {
  const harness = await startTestHarness(t)
  const tally = await harness.run('PostgreSQL frozen', 1, (...given) => changeWhileFrozen(...given, 12_000))
  t.ok(isClean(tally), JSON.stringify(tally))
  t.ok(tally.acknowledged > 0)
})
