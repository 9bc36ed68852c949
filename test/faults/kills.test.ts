/** Kills under load, the short form of `npm run faults`. */

import { test } from 'tap'
import { killEverything, killService } from './rows/kills.ts'
import { isClean } from './tally.ts'
import { startTestHarness } from './test-harness.ts'

test('killed under load: all readings and points that were acknowledged are there, once and in order', async t => {
  const harness = await startTestHarness(t)
  const service = await harness.run('service killed', 4, killService)
  const everything = await harness.run('service and databases killed', 1, killEverything)
  for (const tally of [service, everything]) {
    t.ok(isClean(tally), `${tally.row}: ${JSON.stringify(tally)}`)
    t.ok(tally.acknowledged > 0)
  }
  t.equal(service.crashes + everything.crashes, 7)
})
