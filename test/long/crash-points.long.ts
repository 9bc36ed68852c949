/** Death at the dangerous lines after a random share of the load: what `test/faults/crash-points.test.ts` does, for longer. */

import { test } from 'tap'
import { failPoints } from '../faults/injection/settings.ts'
import { dieAtPoints } from '../faults/rows/crash-points.ts'
import { damageJournal } from '../faults/rows/journal-damage.ts'
import { isClean } from '../faults/tally.ts'
import { startTestHarness } from '../faults/test-harness.ts'

test('a death at each of the dangerous lines, and damage in the journal, lose nothing', async t => {
  const harness = await startTestHarness(t)
  // Twelve deaths in all: the acknowledgement is the line that matters most.
  const deaths = [...failPoints, 'after-ack'] as const
  const points = await harness.run('killed at twelve points', deaths.length, (...given) =>
    dieAtPoints(...given, deaths),
  )
  const deathsOfPoints = ['after-append', 'after-sync', 'after-ack', 'after-forward', 'after-taken'] as const
  const ofPoints = await harness.run('killed at five points, over points', 1, (...given) =>
    dieAtPoints(...given, deathsOfPoints, ['points']),
  )
  const damage = await harness.run('journal torn or flipped', 1, (...given) =>
    damageJournal(...given, ['torn tail', 'flip in the tail', 'flip in the middle']),
  )
  for (const tally of [points, ofPoints, damage]) {
    t.ok(isClean(tally), `${tally.row}: ${JSON.stringify(tally)}`)
    t.ok(tally.acknowledged > 0)
  }
  t.strictSame([points.crashes, ofPoints.crashes], [deaths.length, deathsOfPoints.length])
})
