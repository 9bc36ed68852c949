/** Kills at each statement by which days expire: `test/service/lifecycle/retention/retention.test.ts` has two of them. */

import t from 'tap'
import { killThenEnd } from '../service/lifecycle/retention/retention-world.ts'

t.test('a run that is killed at any step is ended by the next, to the same rows and values', async t => {
  // Hours of values, their note, hours of readings and mark of each of three days; then the removals.
  const statements = 3 * 4 + 2
  for (let statement = 0; statement < statements; statement++)
    for (const when of ['before', 'sent', 'after'] as const) await killThenEnd(t, statement, when)
})
