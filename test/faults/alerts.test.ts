/** Alerts while the service dies at each step to a notification, the short form of the rows of `npm run faults`. */

import { test } from 'tap'
import { type AlertDeath, dieWithAlerts } from './rows/alerts.ts'
import { isClean } from './tally.ts'
import { startTestHarness } from './test-harness.ts'

/** Each point once. */
const deaths: readonly AlertDeath[] = [
  ['alerts-found', true],
  ['alerts-applied', false],
  ['alerts-written', true],
  ['alerts-found', false],
  ['group-told', true],
  ['notifications-made', false],
  ['notification-claimed', true],
  ['notification-sent', false],
  ['notification-noted', true],
]

test('killed at each step from a reading to its notification: all alerts are told, once, with their ends', async t => {
  const harness = await startTestHarness(t)
  const tally = await harness.run('killed with alerts', 1, (...given) => dieWithAlerts(...given, deaths))
  t.ok(isClean(tally), JSON.stringify(tally))
  t.equal(tally.crashes, deaths.length)
})
