/** Kills at each statement by which days expire: what `test/service/lifecycle/retention/retention.test.ts` does at two of them. */

import t from 'tap'
import {
  address,
  beforeMs,
  exec,
  hours,
  keptDays,
  kill,
  killThenEnd,
  open,
  porch,
  porchHours,
  rawStarts,
  reset,
  roof,
  send,
} from '../service/lifecycle/retention/retention-world.ts'
import { until } from '../support/processes.ts'

const roofHours = await hours(roof, Number.NEGATIVE_INFINITY)

t.test('a run that is killed at any step is ended by the next, to the same rows', async t => {
  const ofDays = [1, 2, 3].flatMap(day => [`no values ${day}`, `hours ${day}`, `mark ${day}`])
  const statements = [...ofDays, 'drop']
  for (const [statement, name] of statements.entries()) {
    for (const when of ['before', 'sent', 'after'] as const) {
      const text = `${name}, ${when}`
      await reset()
      await send(porch)
      await send(roof)
      t.equal(await kill({ http: address.http, beforeMs, statement, when }), 'SIGKILL', text)
      // Some of it may still be sent again by the journal.
      if (when === 'after') await send(porch)
      const retention = await open(t)
      await until('it is ended', () => retention.state().oldestDayMs === beforeMs)
      t.strictSame(await rawStarts(), keptDays, text)
      t.strictSame(await hours(porch, retention.expiredBeforeUs()), porchHours, text)
      t.strictSame(await hours(roof, retention.expiredBeforeUs()), roofHours, text)
      t.strictSame(await exec('SELECT count() FROM readings_hours'), [[2 * 2 * 3]], text)
      t.strictSame(await exec('SELECT count(), sum(readings), sum(hours) FROM readings_expired'), [[3, 24, 12]], text)
      await retention.close()
    }
  }
})

t.test('readings and their custom values go together, wherever a run is killed', async t => {
  // Hours of values, their note, hours of readings and mark of the first of three days; removals behind all of them.
  for (const statement of [0, 1, 2, 3, 12, 13])
    for (const when of ['before', 'after'] as const) await killThenEnd(t, statement, when)
})
