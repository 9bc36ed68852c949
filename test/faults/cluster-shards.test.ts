/** Two api processes and two forwarders over one broker and two QuestDBs, under faults: a short form of `npm run faults:cluster`. */

import { test } from 'tap'
import { runInTurn } from './cluster/cluster-matrix.ts'
import type { FaultName } from './cluster/faults.ts'
import { isClean } from './tally.ts'
import { startTestHarness } from './test-harness.ts'

const seed = 20_261_127
const faults: FaultName[] = [
  'QuestDB of shard 2 killed',
  'holder killed',
  'QuestDB killed',
  'QuestDB of shard 2 frozen',
  'standby killed',
  'all brokers killed',
]

test('with readings on two shards all that was acknowledged is there, once and in order, whoever dies', async t => {
  const harness = await startTestHarness(t, seed, 1, 2)
  const tally = await harness.run('cluster of shards', 1, (given, tally, seed) => runInTurn(given, tally, seed, faults))
  for (const note of tally.notes) t.comment(note)
  t.ok(isClean(tally), JSON.stringify(tally))
  t.ok(tally.acknowledged > 0)
  t.equal(tally.crashes, faults.length)
})
