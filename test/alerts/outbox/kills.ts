/**
 * The connection breaks at each statement in turn. Alerts and their pending notifications agree, and a retry ends as if without
 * the break.
 */

import type pg from 'pg'
import t from 'tap'
import { flushGroup } from '../../../alerts/outbox/flush-group.ts'
import { readDueGroups } from '../../../alerts/outbox/group-rows.ts'
import { applyTransitions } from '../../../alerts/store/apply.ts'
import { inTransaction } from '../../../store/postgres/transaction.ts'
import { type AlertStore, createAlertStore, effects, startMs } from '../../support/alert-store.ts'
import { breakingPool } from '../../support/breaking-pool.ts'
import { sharedPostgres } from '../../support/databases.ts'
import { waitFor } from '../../support/wait-for.ts'

const { store } = await sharedPostgres(t)
const pool = store.postgres
const { opened, fired, resolved } = effects
const stepMs = 4000

/** A firing alert that was notified, one that was not, and a pending one. */
async function prepare(): Promise<{ alerts: AlertStore; rule: number }> {
  const alerts = await createAlertStore(pool)
  const channels = [await alerts.addChannel('a'), await alerts.addChannel('b')]
  const { id: rule } = await alerts.addRule({ channels })
  await alerts.apply(alerts.transition(rule, 1, opened(startMs), fired(startMs)))
  alerts.pass(30)
  await alerts.flush()
  await alerts.apply(
    alerts.transition(rule, 2, opened(startMs), fired(startMs)),
    alerts.transition(rule, 3, opened(startMs)),
  )
  return { alerts, rule }
}

/** The rows without values that differ between runs. */
async function stored(alerts: AlertStore): Promise<unknown> {
  const { rows: notifications } = await pool.query(
    "SELECT kind, message->'counts' AS counts, state FROM alert_notifications ORDER BY kind, channel_id, id",
  )
  const { rows: groups } = await pool.query('SELECT last_sent_at, due_at FROM alert_groups ORDER BY channel_id')
  const { rows: pairs } = await pool.query('SELECT device, state FROM alert_pairs ORDER BY device')
  const standing = (await alerts.standing()).map(({ rule: _, ...row }) => row)
  return { standing, notifications, groups, pairs }
}

/** A pool that breaks at one statement, for the work under test. */
function breaksAt(statement: number, when: 'before' | 'after'): { breaking: pg.Pool; isBroken: () => boolean } {
  let count = 0
  return {
    breaking: breakingPool(() => (++count === statement ? when : undefined), pool),
    isBroken: () => count >= statement,
  }
}

for (const when of ['before', 'after'] as const) {
  t.test(`transitions are applied once, at whichever statement the connection breaks ${when}`, async t => {
    const transitionsOf = ({ alerts, rule }: Awaited<ReturnType<typeof prepare>>) => [
      alerts.transition(rule, 1, resolved(startMs + 90_000)),
      alerts.transition(rule, 2, resolved(startMs + 90_000)),
      alerts.transition(rule, 3, fired(startMs + 90_000)),
      alerts.transition(rule, 4, opened(startMs + 90_000), fired(startMs + 90_000)),
    ]
    const whole = await prepare()
    const before = await stored(whole.alerts)
    await whole.alerts.apply(...transitionsOf(whole))
    const after = await stored(whole.alerts)
    t.notSame(before, after)
    let breaks = 0
    for (let statement = 1; ; statement++) {
      const parts = await prepare()
      const { breaking, isBroken } = breaksAt(statement, when)
      const batch = await parts.alerts.batchOf(transitionsOf(parts))
      const outcome = await applyTransitions(breaking, batch).then(
        () => 'done',
        () => 'failed',
      )
      if (!isBroken()) break
      breaks++
      // Only a COMMIT whose response is lost has taken effect.
      if (outcome === 'failed' && when === 'before')
        t.strictSame(await stored(parts.alerts), before, `statement ${statement}`)
      const { alertIds } = await applyTransitions(pool, batch)
      t.equal(alertIds.length, 4)
      t.strictSame(await stored(parts.alerts), after, `statement ${statement}, again`)
    }
    t.ok(breaks > 10, `${breaks} statements`)
  })
}

t.test('notifications are created once, after whichever statement the connection breaks', async t => {
  const flush = async (alerts: AlertStore, through: pg.Pool) => {
    for (const id of await readDueGroups(pool, alerts.nowMs(), 10)) {
      await inTransaction(through, { stepMs }, transaction => flushGroup(transaction, id, alerts.flushOptions()))
    }
  }
  const due = async () => {
    const { alerts } = await prepare()
    alerts.pass(300)
    return alerts
  }
  const whole = await due()
  const before = await stored(whole)
  await flush(whole, pool)
  const after = await stored(whole)
  t.notSame(before, after)
  let breaks = 0
  for (let statement = 1; ; statement++) {
    const alerts = await due()
    const { breaking, isBroken } = breaksAt(statement, 'after')
    await flush(alerts, breaking).catch(() => undefined)
    if (!isBroken()) break
    breaks++
    // A group is skipped until PostgreSQL notices that the connection is gone.
    await waitFor('no group is due', async () => {
      await flush(alerts, pool)
      return (await readDueGroups(pool, alerts.nowMs(), 10)).length === 0
    })
    t.strictSame(await stored(alerts), after, `statement ${statement}`)
  }
  t.ok(breaks > 10, `${breaks} statements`)
})
