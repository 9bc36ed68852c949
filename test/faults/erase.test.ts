/** A device and a station that are erased from a QuestDB to which each start sends all again, the short form of `npm run faults -- --rows 21`. */

import { test } from 'tap'
import { eraseUnsynced } from './rows/erase.ts'
import { isClean } from './tally.ts'
import { startTestHarness } from './test-harness.ts'

test('nothing that was erased is readable again after a start that sends all again', async t => {
  const harness = await startTestHarness(t)
  const tally = await harness.run('erased, then replayed', 1, eraseUnsynced)
  t.ok(isClean(tally), JSON.stringify(tally))
  t.ok(tally.acknowledged > 0)
})
