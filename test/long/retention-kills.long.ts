/** Kills at each statement of the retention. `test/service/lifecycle/retention/retention.test.ts` has two of them. */

import t from 'tap'
import { killThenEnd } from '../service/lifecycle/retention/retention-world.ts'

t.test('the next run completes a retention killed at any step, with the same rows and values', async t => {
  // Each of three days has hours of values, their note, hours of readings and a mark. The removals follow.
  const statements = 3 * 4 + 2
  for (let statement = 0; statement < statements; statement++)
    for (const when of ['before', 'sent', 'after'] as const) await killThenEnd(t, statement, when)
})
