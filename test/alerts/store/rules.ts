/** Rules in a real PostgreSQL: their owners, limits, and the end of their alerts. */

import t from 'tap'
import { bounds } from '../../../alerts/core/bounds.ts'
import type { Owner } from '../../../alerts/core/outcome.ts'
import { NewRule } from '../../../alerts/core/rule.ts'
import { createAlertStore, effects, everybody, startMs } from '../../support/alert-store.ts'
import { sharedPostgres } from '../../support/databases.ts'

const { store } = await sharedPostgres(t)
const pool = store.postgres
const { opened, fired } = effects
const condition = { kind: 'above', metric: 'temperature', value: 30 }
const ruleOf = (fields: object) => NewRule.parse({ name: 'warm', selector: { all: true }, condition, ...fields })

t.test('a rule is stored as sent, also in a partial change', async t => {
  const alerts = await createAlertStore(pool)
  const { rules } = alerts
  const changes: number[][] = []
  rules.onChange(ids => void changes.push([...ids]))
  const channels = [await alerts.addChannel('a'), await alerts.addChannel('b')]
  const fields = { name: 'warm', channels, group_by: 'site', note: 'open a window', for_seconds: 60 }
  const rule = await alerts.addRule(fields)
  t.match(rule, { ...ruleOf(fields), owner: null, version: 1 })
  t.strictSame(await rules.get(everybody, rule.id), rule)
  const renamed = await rules.change(everybody, rule.id, { name: 'hot', channels: channels.slice(1) }, 'test')
  t.strictSame(renamed, { ok: true, value: { ...rule, name: 'hot', channels: channels.slice(1) } })
  const selector = { tags: ['site:berlin'] }
  const changed = await rules.change(everybody, rule.id, { selector }, 'test')
  t.match(changed, { value: { version: 2, selector } })
  t.strictSame(await rules.change(everybody, rule.id, { name: 'hot', selector }, 'test'), changed)
  t.strictSame(changes, [[rule.id], [rule.id], [rule.id]])
  t.strictSame(await rules.change(everybody, rule.id, { selector: null }, 'test'), { ok: false, code: 'RULE_INVALID' })
  t.strictSame(await rules.versions(), [{ id: rule.id, version: 2, enabled: true }])
  t.strictSame(await rules.remove(everybody, rule.id, 'test'), { ok: true, value: undefined })
  t.strictSame(await rules.all(), [])
  const { rows } = await pool.query('SELECT action, details FROM audit ORDER BY id')
  t.match(rows, [
    { action: 'alert-rule.add' },
    { action: 'alert-rule.change', details: { name: 'hot', channels: channels.slice(1) } },
    { action: 'alert-rule.change', details: { selector } },
    { action: 'alert-rule.remove', details: { name: 'hot' } },
  ])
})

t.test("an owner's rule names are unique and limited in number", async t => {
  const alerts = await createAlertStore(pool)
  const { rules } = alerts
  const { id } = await alerts.addRule({ name: 'warm' })
  const taken = { ok: false, code: 'NAME_TAKEN' }
  t.strictSame(await rules.add(everybody, ruleOf({}), 'test'), taken)
  const { id: other } = await alerts.addRule({ name: 'cold' })
  t.strictSame(await rules.change(everybody, other, { name: 'warm' }, 'test'), taken)
  await rules.remove(everybody, id, 'test')
  t.match(await rules.add(everybody, ruleOf({}), 'test'), { ok: true }, 'the name of a removed one is free')
  await pool.query(
    `INSERT INTO alert_rules (name, selector, condition, for_seconds, keep_firing_seconds, severity, enabled, note, created_at, updated_at)
     SELECT 'made ' || n, selector, condition, 0, 0, severity, enabled, note, created_at, updated_at
     FROM alert_rules, generate_series(1, $1) AS n WHERE id = $2`,
    [bounds.rulesPerOwner - 2, other],
  )
  t.strictSame(await rules.add(everybody, ruleOf({ name: 'one more' }), 'test'), { ok: false, code: 'TOO_MANY_RULES' })
  const ada: Owner = { all: false, account: await alerts.addAccount() }
  t.match(await rules.add(ada, ruleOf({}), 'test'), { ok: true })
  t.equal((await rules.all()).length, bounds.rulesPerOwner + 1)
})

for (const end of ['removed', 'disabled'] as const) {
  t.test(`a rule that is ${end} leaves no open alert`, async t => {
    const alerts = await createAlertStore(pool)
    const { rules } = alerts
    const channel = await alerts.addChannel()
    const { id } = await alerts.addRule({ channels: [channel] })
    await alerts.apply(alerts.transition(id, 1, opened(startMs), fired(startMs)))
    alerts.pass(30)
    t.match(await alerts.flush(), [{ kind: 'firing' }])
    await alerts.apply(
      alerts.transition(id, 2, opened(startMs), fired(startMs)),
      alerts.transition(id, 3, opened(startMs)),
    )
    if (end === 'removed') await rules.remove(everybody, id, 'test')
    else await rules.change(everybody, id, { enabled: false }, 'test')
    t.match(await alerts.standing(), [
      { device: 1, state: 'resolved', reason: `rule_${end}`, events: ['pending', 'firing', 'notified', 'resolved'] },
      { device: 2, state: 'resolved', members: [] },
    ])
    t.equal((await alerts.standing()).length, 2, 'the pending one is gone')
    t.equal((await pool.query('SELECT FROM alert_pairs')).rowCount, 0)
    const { rows } = await pool.query('SELECT state FROM alert_notifications')
    t.strictSame(rows, [{ state: 'cancelled' }], 'it was not delivered yet')
    alerts.pass(300)
    t.match(await alerts.flush(), [
      { kind: 'resolved', message: { counts: { resolved: 1 }, alerts: [{ device: 'd1', state: 'resolved' }] } },
    ])
    alerts.pass(100_000)
    t.strictSame(await alerts.flush(), [])
    t.equal((await pool.query('SELECT FROM alert_group_alerts')).rowCount, 0)
  })
}

t.test('a channel gets the firing alerts of a rule as long as the rule names it', async t => {
  const alerts = await createAlertStore(pool)
  const { rules } = alerts
  const [first, second] = [await alerts.addChannel('first'), await alerts.addChannel('second')]
  const { id } = await alerts.addRule({ channels: [first] })
  await alerts.apply(alerts.transition(id, 1, opened(startMs), fired(startMs)))
  alerts.pass(30)
  t.match(await alerts.flush(), [{ channel: first }])
  await rules.change(everybody, id, { channels: [second] }, 'test')
  alerts.pass(30)
  t.match(await alerts.flush(), [{ channel: second, kind: 'firing' }])
  await alerts.apply(alerts.transition(id, 1, effects.resolved(startMs + 90_000)))
  alerts.pass(300)
  t.match(await alerts.flush(), [{ channel: second, kind: 'resolved' }])
  alerts.pass(100_000)
  t.strictSame(await alerts.flush(), [])
})
