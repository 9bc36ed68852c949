/**
 * One service and its databases under some faults of each kind, with a random seed that is printed. `npm run faults` has all rows,
 * and many cycles of each. `SEED` repeats a run.
 */

import { test } from 'tap'
import type { Harness, Run } from '../faults/experiment.ts'
import { failPoints } from '../faults/injection/settings.ts'
import { dieWithAlerts } from '../faults/rows/alerts.ts'
import { eraseSeries, eraseUnsynced } from '../faults/rows/erase.ts'
import { damageJournal } from '../faults/rows/journal.ts'
import { dieAtPoints, killEverything, killService } from '../faults/rows/kills.ts'
import { changeWhileFrozen } from '../faults/rows/postgres.ts'
import { isClean } from '../faults/tally.ts'
import { startTestHarness } from '../faults/test-harness.ts'

// The acknowledgement is the most important line.
const deaths = [...failPoints, 'after-ack'] as const
const deathsOfPoints = ['after-append', 'after-sync', 'after-ack', 'after-forward', 'after-taken'] as const
const alertDeaths = [
  ['alerts-found', true],
  ['alerts-applied', false],
  ['alerts-written', true],
  ['alerts-found', false],
  ['group-flushed', true],
  ['notifications-made', false],
  ['notification-claimed', true],
  ['notification-sent', false],
  ['notification-noted', true],
] as const

interface Row {
  what: string
  cycles: number
  run: Run<Harness>
  /** The number of crashes, if known. */
  crashes?: number
  /** Alerts are judged by their notifications. */
  isOfAlerts?: boolean
}

const rows: readonly Row[] = [
  { what: 'service killed', cycles: 4, run: killService, crashes: 4 },
  { what: 'service and databases killed', cycles: 1, run: killEverything, crashes: 3 },
  {
    what: 'killed at twelve points',
    cycles: deaths.length,
    run: (...given) => dieAtPoints(...given, deaths),
    crashes: deaths.length,
  },
  {
    what: 'killed at five points, over points',
    cycles: 1,
    run: (...given) => dieAtPoints(...given, deathsOfPoints, ['points']),
    crashes: deathsOfPoints.length,
  },
  { what: 'journal torn or flipped', cycles: 1, run: damageJournal },
  { what: 'metric erased', cycles: 1, run: eraseSeries },
  { what: 'erased, then replayed', cycles: 1, run: eraseUnsynced },
  { what: 'PostgreSQL frozen', cycles: 1, run: changeWhileFrozen(12_000) },
  {
    what: 'killed with alerts',
    cycles: 1,
    run: dieWithAlerts(alertDeaths),
    crashes: alertDeaths.length,
    isOfAlerts: true,
  },
]

test('faults neither lose, repeat nor reorder acknowledged readings', async t => {
  const seed = process.env['SEED']
  const harness = await startTestHarness(t, seed === undefined ? undefined : Number(seed))
  for (const { what, cycles, run, crashes, isOfAlerts } of rows) {
    const tally = await harness.run(what, cycles, run)
    t.ok(isClean(tally), `${what}: ${JSON.stringify(tally)}`)
    if (isOfAlerts !== true) t.ok(tally.acknowledged > 0, what)
    if (crashes !== undefined) t.equal(tally.crashes, crashes, what)
  }
})
