/** Two api processes and two forwarders over one broker, under faults: the short form of `npm run faults:cluster`. */

import { test } from 'tap'
import { runInTurn } from './cluster/cluster-matrix.ts'
import type { FaultName } from './cluster/faults.ts'
import { isClean } from './tally.ts'
import { startTestHarness } from './test-harness.ts'

const seed = 20_261_126
const faults: FaultName[] = [
  'holder killed',
  'api killed',
  'QuestDB killed',
  'all brokers killed',
  'api frozen, passwords changed',
  'holder killed',
  'PostgreSQL killed',
  'api cut from PostgreSQL, passwords changed',
  'holder frozen',
  'all brokers killed',
]

test('with topics as journals all that was acknowledged is there, once and in order, whoever dies', async t => {
  const harness = await startTestHarness(t, seed, 1)
  const tally = await harness.run('cluster', 1, (given, tally, seed) => runInTurn(given, tally, seed, faults))
  for (const note of tally.notes) t.comment(note)
  t.ok(isClean(tally), JSON.stringify(tally))
  t.ok(tally.acknowledged > 0)
  t.equal(tally.crashes, faults.length)
})
