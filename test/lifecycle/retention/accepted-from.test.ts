/** From which time on readings are accepted, with a real PostgreSQL behind it. */

import t from 'tap'
import { noFeed } from '../../../auth/nodes/change-feed.ts'
import { openAcceptedFrom } from '../../../lifecycle/retention/accepted-from.ts'
import { startDatabases } from '../../support/databases.ts'
import { withoutQuestdb } from '../../support/service.ts'

const { store } = await startDatabases(t, {
  questdbHttp: withoutQuestdb.QUESTDB_HTTP,
  questdbPg: withoutQuestdb.QUESTDB_PG,
})
const pool = store.postgres
const dayMs = 86_400_000
const today = Date.UTC(2026, 5, 15)
let now = today + 12 * 3_600_000
const open = (days: number | undefined) => openAcceptedFrom({ pool, days, nowMs: () => now })

t.test('without the setting nothing is refused', async t => {
  const accepted = await open(undefined)
  t.equal(accepted.ms(), Number.NEGATIVE_INFINITY)
  t.equal(accepted.isLimited(), false)
})

t.test('so many whole days before today are accepted, as the clock goes', async t => {
  const accepted = await open(30)
  t.equal(accepted.ms(), today - 30 * dayMs)
  t.equal(accepted.isLimited(), true)
  now = today + dayMs - 1
  t.equal(accepted.ms(), today - 30 * dayMs)
  now = today + dayMs
  t.equal(accepted.ms(), today - 29 * dayMs)
  now = today
  t.equal((await open(1)).ms(), today - dayMs)
})

t.test('what was raised never falls: by a clock set back, more days, no setting, or a lower value', async t => {
  now = today
  const accepted = await open(10)
  await accepted.raise(today - 10 * dayMs)
  await accepted.raise(today - 20 * dayMs)
  now = today - 5 * dayMs
  t.equal(accepted.ms(), today - 10 * dayMs, 'the clock was set back')
  for (const days of [100, undefined]) {
    const later = await open(days)
    t.equal(later.ms(), today - 10 * dayMs, String(days))
    t.equal(later.isLimited(), true)
  }
  const first = await open(100)
  const second = await open(100)
  await first.raise(today - dayMs)
  await second.raise(today - 2 * dayMs)
  t.equal((await open(100)).ms(), today - dayMs, 'another process has raised it further')
})

t.test('of two calls at a time the one that is answered last lowers nothing', async t => {
  const answers: (() => void)[] = []
  const query = async () => await new Promise<void>(resolve => answers.push(resolve))
  const accepted = await openAcceptedFrom({
    pool: { query: async () => ({ rows: [] }) } as never,
    feed: { ...noFeed, commit: (_options, work) => work({ query } as never) },
    days: 100,
    nowMs: () => today,
  })
  const both = [1, 2].map(days => accepted.raise(today - days * dayMs))
  for (const answer of answers) answer()
  await Promise.all(both)
  t.equal(accepted.ms(), today - dayMs)
})
