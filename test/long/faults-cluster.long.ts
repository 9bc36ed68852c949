/** Two api processes, two forwarders and two replicas with one broker under faults: a short form of `npm run faults:cluster`. */

import { test } from 'tap'
import { runInTurn } from '../faults/cluster/cluster-matrix.ts'
import type { FaultName } from '../faults/cluster/faults.ts'
import { isClean } from '../faults/tally.ts'
import { startTestHarness } from '../faults/test-harness.ts'

const runs: readonly { seed: number; faults: FaultName[] }[] = [
  {
    seed: 20_261_126,
    faults: [
      'QuestDB frozen, holder killed',
      'api killed',
      'QuestDB killed',
      'all brokers killed',
      'api frozen, passwords changed',
      'disk of QuestDB deleted, replica made again',
      'PostgreSQL killed',
      'api cut from PostgreSQL, passwords changed',
      'holder frozen with a backlog',
      'disk of QuestDB deleted',
    ],
  },
]

for (const { seed, faults } of runs) {
  test(`kills of processes neither lose, repeat nor reorder acknowledged readings: seed ${seed}`, async t => {
    const harness = await startTestHarness(t, Number(process.env['SEED'] ?? seed), 1)
    const tally = await harness.run('cluster', faults.length, runInTurn(...faults))
    for (const note of tally.notes) t.comment(note)
    t.ok(isClean(tally), JSON.stringify(tally))
    t.ok(tally.acknowledged > 0)
    t.equal(tally.crashes, faults.length)
  })
}
