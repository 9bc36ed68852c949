/** Results of transitions in a real PostgreSQL. */

import t from 'tap'
import { idlePair } from '../../../alerts/core/pair.ts'
import { applyTransitions } from '../../../alerts/store/apply.ts'
import { readEngineRow, readPairs } from '../../../alerts/store/pairs.ts'
import { createAlertStore, effects, startMs } from '../../support/alert-store.ts'
import { sharedPostgres } from '../../support/databases.ts'

const { store } = await sharedPostgres(t)
const pool = store.postgres
const { opened, fired, resolved, dropped, flapping, settled } = effects

async function pairsStored() {
  const rows = []
  for await (const piece of readPairs(pool)) rows.push(...piece)
  return rows
}

t.test('an alert is pending, fires and ends under one id', async t => {
  const alerts = await createAlertStore(pool)
  const { id: rule } = await alerts.addRule()
  const ids = []
  for (const found of [[opened(startMs)], [fired(startMs + 1000)], [resolved(startMs + 2000)]]) {
    ids.push(...(await alerts.apply(alerts.transition(rule, 1, ...found))).alertIds)
  }
  t.equal(new Set(ids).size, 1)
  const [alert] = await alerts.alerts.byIds(ids)
  t.match(alert, {
    ...{ rule_id: rule, device: 'd1', device_number: 1, metric: 'temperature', state: 'resolved', value: 20 },
    opened_at: '2026-05-04T12:00:00.000Z',
    fired_at: '2026-05-04T12:00:01.000Z',
    resolved_at: '2026-05-04T12:00:02.000Z',
    resolved_reason: 'cleared',
  })
  const { events = [] } = (await alerts.alerts.get({ all: true, account: null }, alert?.id ?? '')) ?? {}
  t.strictSame(
    events.map(({ kind, at }) => `${kind} ${at.slice(17, 19)}`),
    ['pending 00', 'firing 01', 'resolved 02'],
  )
})

t.test('a dropped pending alert leaves no row', async t => {
  const alerts = await createAlertStore(pool)
  const { id: rule } = await alerts.addRule()
  await alerts.apply(alerts.transition(rule, 1, opened(startMs)))
  await alerts.apply(alerts.transition(rule, 1, dropped(startMs + 1000)))
  t.strictSame(await alerts.standing(), [])
})

t.test('several transitions of a pair in one batch have the effect of several batches', async t => {
  const course = [
    [opened(startMs)],
    [fired(startMs + 1000)],
    [resolved(startMs + 90_000)],
    [opened(startMs + 91_000), fired(startMs + 91_000), flapping(startMs + 91_000)],
    [settled(startMs + 95_000), resolved(startMs + 95_000)],
    [opened(startMs + 96_000)],
  ]
  const standings = []
  for (const isOneBatch of [true, false]) {
    const alerts = await createAlertStore(pool)
    const channel = await alerts.addChannel()
    const { id: rule } = await alerts.addRule({ channels: [channel] })
    const transitions = course.map(found => alerts.transition(rule, 1, ...found))
    if (isOneBatch) await alerts.apply(...transitions)
    else for (const transition of transitions) await alerts.apply(transition)
    standings.push((await alerts.standing()).map(({ rule: _, ...row }) => row))
  }
  t.strictSame(standings[0], standings[1])
  t.match(standings[0], [
    { state: 'resolved', events: ['pending', 'firing', 'resolved'], members: ['nothing firing'] },
    { state: 'resolved', events: ['pending', 'firing', 'flapping', 'settled', 'resolved'], members: [] },
    { state: 'pending', events: ['pending'], members: [] },
  ])
})

t.test('a repeated transition is not a change, in any batch', async t => {
  const alerts = await createAlertStore(pool)
  const channel = await alerts.addChannel()
  const { id: rule } = await alerts.addRule({ channels: [channel] })
  const course = [opened(startMs), fired(startMs)]
  await alerts.apply(alerts.transition(rule, 1, ...course))
  await alerts.pass(60)
  t.strictSame(await alerts.flush().then(made => made.length), 1)
  const standing = await alerts.standing()
  t.strictSame((await alerts.apply(alerts.transition(rule, 1, ...course))).alertIds, [])
  t.strictSame(await alerts.standing(), standing)
  await alerts.apply(alerts.transition(rule, 1, resolved(startMs + 1000)))
  const over = await alerts.standing()
  t.match(over, [{ state: 'resolved', members: ['firing resolved'] }])
  for (const found of [[resolved(startMs + 1000)], course, [...course, resolved(startMs + 1000)]]) {
    t.strictSame((await alerts.apply(alerts.transition(rule, 1, ...found))).alertIds, [])
  }
  t.strictSame(await alerts.standing(), over)
})

t.test('rules that are disabled, removed or missing open no alerts', async t => {
  const alerts = await createAlertStore(pool)
  const account = await alerts.addAccount()
  const disabled = await alerts.addRule({ enabled: false })
  const removed = await alerts.addRule()
  await alerts.rules.remove({ all: true, account: null }, removed.id, 'test')
  const gone = await alerts.addRule({}, { all: false, account })
  await pool.query('DELETE FROM accounts WHERE id = $1', [account])
  const begins = (rule: number) => alerts.transition(rule, 1, opened(startMs), fired(startMs))
  const applied = await alerts.apply(begins(disabled.id), begins(removed.id), begins(gone.id))
  t.strictSame(applied, { alertIds: [], unknownRules: [gone.id] })
  t.strictSame(await alerts.standing(), [])
  t.equal((await pool.query('SELECT FROM alert_pairs')).rowCount, 0)
})

t.test('states of pairs are restored, without the empty ones', async t => {
  const alerts = await createAlertStore(pool)
  const { id: rule } = await alerts.addRule()
  const transition = alerts.transition(rule, 4, opened(startMs))
  const seen = { sinceMs: startMs, seenUs: startMs * 1000 + 0.5, changesMs: [1, 2] }
  const state = { ...idlePair, phase: 'pending' as const, ...seen }
  await alerts.apply({ ...transition, effects: [], state })
  t.strictSame(await pairsStored(), [{ rule, device: 4, state, stateUs: state.seenUs }])
  await alerts.apply({ ...transition, effects: [], state: idlePair })
  t.strictSame(await pairsStored(), [])
  await alerts.apply({ ...transition, effects: [], state })
  await alerts.rules.change({ all: true, account: null }, rule, { enabled: false }, 'test')
  t.equal((await pool.query('SELECT FROM alert_pairs')).rowCount, 0)
})

t.test('a node that does not lead applies nothing', async t => {
  const alerts = await createAlertStore(pool)
  const { id: rule } = await alerts.addRule()
  const batch = await alerts.batchOf([alerts.transition(rule, 1, opened(startMs))])
  const requireLead = async () => {
    throw new Error('another node leads')
  }
  await t.rejects(applyTransitions(pool, { ...batch, requireLead }), { message: 'another node leads' })
  t.strictSame(await alerts.standing(), [])
  t.equal((await readEngineRow(pool)).batch, 0)
})
