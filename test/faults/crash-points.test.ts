/**
 * Death at each of the dangerous lines once, from one seed and soon after the start. `npm run test:long` has the same under more
 * load, from another seed each time, and `npm run faults` many of each.
 */

import { test } from 'tap'
import { failPoints } from './injection/settings.ts'
import { dieAtPoints } from './rows/crash-points.ts'
import { damageJournal } from './rows/journal-damage.ts'
import { isClean } from './tally.ts'
import { startTestHarness } from './test-harness.ts'

const seed = 20_261_125
const passShare = 0.1

test('a death at each of the dangerous lines, and damage in the journal, lose nothing', async t => {
  const harness = await startTestHarness(t, seed)
  const deathsOf = { readings: failPoints, points: ['after-ack'] } as const
  const points = await harness.run('killed at eleven points', 1, (...given) =>
    dieAtPoints(...given, deathsOf.readings, ['readings'], passShare),
  )
  const ofPoints = await harness.run('killed at one point, over points', 1, (...given) =>
    dieAtPoints(...given, deathsOf.points, ['points'], passShare),
  )
  const damage = await harness.run('journal torn or flipped', 1, (...given) =>
    damageJournal(...given, ['torn tail', 'flip in the middle']),
  )
  for (const tally of [points, ofPoints, damage]) {
    t.ok(isClean(tally), `${tally.row}: ${JSON.stringify(tally)}`)
    t.ok(tally.acknowledged > 0)
  }
  t.strictSame([points.crashes, ofPoints.crashes], [failPoints.length, deathsOf.points.length])
})
