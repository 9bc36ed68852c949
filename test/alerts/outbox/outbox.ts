/** The loop that creates notifications, its limit, and the removal of ended ones. */

import t from 'tap'
import { createOutbox, type OutboxOptions } from '../../../alerts/outbox/outbox.ts'
import { createAlertSweep } from '../../../alerts/outbox/sweep.ts'
import { type AlertStore, createAlertStore, effects, everybody, startMs } from '../../support/alert-store.ts'
import { recordingLog, sharedPostgres, silentLog, type TestHooks } from '../../support/databases.ts'
import { waitFor } from '../../support/wait-for.ts'

const { store } = await sharedPostgres(t)
const pool = store.postgres
const { opened, fired, resolved } = effects

function outboxOf(t: TestHooks, alerts: AlertStore, options: Partial<OutboxOptions> = {}) {
  const { nowMs: _, publicUrl, ...flushing } = alerts.flushOptions()
  const wakes: number[][] = []
  const outbox = createOutbox({
    ...{ pool, log: silentLog, nowMs: alerts.nowMs, leads: () => true, requireLead: async () => undefined },
    ...{ ...flushing, publicUrl: () => publicUrl, backlog: () => 0 },
    delivered: channels => void wakes.push([...channels]),
    ...options,
  })
  t.teardown(() => outbox.close())
  return { outbox, wakes }
}

async function waiting(): Promise<number> {
  const { rows } = await pool.query("SELECT count(*)::int AS count FROM alert_notifications WHERE state = 'waiting'")
  return rows[0]?.count
}

const untilMade = () => waitFor('a notification is made', async () => (await waiting()) === 1)

async function open() {
  const alerts = await createAlertStore(pool)
  const channel = await alerts.addChannel()
  const { id: rule } = await alerts.addRule({ channels: [channel] })
  const fire = (device: number) =>
    alerts.apply(alerts.transition(rule, device, opened(alerts.nowMs()), fired(alerts.nowMs())))
  return { ...alerts, channel, rule, fire }
}

t.test('a due group is notified, which wakes the delivery', async t => {
  const alerts = await open()
  const { outbox, wakes } = outboxOf(t, alerts)
  await alerts.fire(1)
  outbox.wake()
  alerts.pass(30)
  outbox.wake()
  await untilMade()
  await waitFor('delivery is woken', () => wakes.length > 0)
  t.strictSame(wakes, [[alerts.channel]])
})

t.test('alerts that fired before the start are notified at once, also while changes are pending', async t => {
  const alerts = await open()
  await alerts.fire(1)
  alerts.pass(20)
  outboxOf(t, alerts, { backlog: () => 1 })
  await untilMade()
})

t.test('groups notified before the start keep their interval', async t => {
  const alerts = await open()
  await alerts.fire(1)
  alerts.pass(30)
  const { outbox } = outboxOf(t, alerts)
  await untilMade()
  await outbox.close()
  await alerts.fire(2)
  alerts.pass(20)
  const { outbox: next } = outboxOf(t, alerts)
  next.wake()
  await next.close()
  t.equal(await waiting(), 1)
})

t.test('a node that does not lead creates no notification', async t => {
  const alerts = await open()
  let leads = false
  const { outbox } = outboxOf(t, alerts, { leads: () => leads })
  await alerts.fire(1)
  alerts.pass(30)
  outbox.wake()
  await outbox.close()
  t.equal(await waiting(), 0)
  leads = true
  const { outbox: another } = outboxOf(t, alerts)
  another.wake()
  await untilMade()
})

t.test('a group waits half a minute for uncommitted findings', async t => {
  const alerts = await open()
  const { outbox } = outboxOf(t, alerts, { backlog: () => 1 })
  await alerts.fire(1)
  alerts.pass(59)
  outbox.wake()
  await outbox.close()
  t.equal(await waiting(), 0)
  alerts.pass(1)
  outboxOf(t, alerts, { backlog: () => 1 }).outbox.wake()
  await untilMade()
})

t.test('a group whose notification fails blocks no other', async t => {
  const alerts = await open()
  const { log, texts } = recordingLog('error')
  const bad = await alerts.addRule({
    channels: [alerts.channel],
    condition: { kind: 'above', metric: 'humidity', value: 1 },
  })
  await alerts.apply(alerts.transition(bad.id, 1, opened(startMs), fired(startMs)))
  await pool.query("UPDATE alerts SET metric = 'bad'")
  await alerts.fire(2)
  alerts.pass(60)
  const unitOf = (metric: string) => {
    if (metric === 'bad') throw new Error('no such metric')
    return null
  }
  outboxOf(t, alerts, { unitOf, log: { ...silentLog, ...log } })
  await untilMade()
  await waitFor('it is said', () => texts.length > 0)
  t.strictSame(texts, ['no notification can be made of a group of alerts'])
})

t.test('above the limit the oldest notifications of the lowest severity are dropped', async t => {
  const alerts = await open()
  const { log, texts } = recordingLog('warn')
  await pool.query(
    `INSERT INTO alert_notifications (webhook_id, channel_id, kind, severity, message, created_at, due_at)
     SELECT 'old ' || n, $1, 'firing', CASE WHEN n % 2 = 0 THEN 'info' ELSE 'critical' END, '{}', now(), now()
     FROM generate_series(1, 10) AS n`,
    [alerts.channel],
  )
  await alerts.fire(1)
  alerts.pass(30)
  const { outbox } = outboxOf(t, alerts, { waitingMax: 8, log: { ...silentLog, ...log } })
  await waitFor('some are given up', () => outbox.givenUp() > 0)
  const { rows } = await pool.query("SELECT webhook_id FROM alert_notifications WHERE state = 'given_up' ORDER BY id")
  t.strictSame(
    rows.map(row => row.webhook_id),
    ['old 2', 'old 4', 'old 6'],
  )
  t.equal(outbox.givenUp(), 3)
  t.match(texts, [/too many notifications wait/])
})

t.test('ended alerts are removed in time', async t => {
  const alerts = await open()
  const { rule } = alerts
  const sweep = createAlertSweep({ pool, nowMs: alerts.nowMs, leads: () => true, log: silentLog })
  t.teardown(() => sweep.close())
  const tables = 'alerts alert_pairs alert_notifications alert_groups alert_rules alert_channels alert_silences'
  const count = async (name: string) => (await pool.query(`SELECT count(*)::int AS n FROM ${name}`)).rows[0]?.n
  const counts = () => Promise.all(tables.split(' ').map(count))
  const now = () => [alerts.nowMs()]
  await pool.query('DELETE FROM alert_pairs')
  await alerts.fire(1)
  alerts.pass(30)
  await alerts.flush()
  const until = new Date(alerts.nowMs() + 1000).toISOString()
  const silence = { selector: { all: true as const }, rule_id: null, until, weekly: null, reason: '' }
  await alerts.silences.add(everybody, silence, 'ada')
  alerts.pass(31 * 86_400)
  await sweep.run()
  t.strictSame(await counts(), [1, 1, 1, 1, 1, 1, 0], 'what is open stays, and what waits')
  await alerts.apply(alerts.transition(rule, 1, resolved(alerts.nowMs())))
  alerts.pass(300)
  await alerts.flush()
  const isNow = 'to_timestamp($1::float8 / 1000)'
  await pool.query(`UPDATE alert_notifications SET state = 'delivered', ended_at = ${isNow}`, now())
  alerts.pass(2 * 3600)
  await sweep.run()
  t.strictSame(await counts(), [1, 0, 2, 1, 1, 1, 0])
  alerts.pass(30 * 86_400)
  await sweep.run()
  t.strictSame(await counts(), [1, 0, 0, 0, 1, 1, 0])
  await alerts.rules.remove(everybody, rule, 'test')
  await pool.query(`UPDATE alert_channels SET removed_at = ${isNow}`, now())
  alerts.pass(300 * 86_400)
  await sweep.run()
  t.strictSame(await counts(), [1, 0, 0, 0, 1, 0, 0], 'the alert is still listed, under its rule')
  alerts.pass(36 * 86_400)
  await sweep.run()
  t.strictSame(await counts(), [0, 0, 0, 0, 0, 0, 0])
})

t.test("a removed device's alerts leave the list after their notifications", async t => {
  const alerts = await open()
  const { rows } = await pool.query<{ number: number }>(
    `INSERT INTO devices (name, slug, created_at, removed_at, credential_current, auth_seq)
     VALUES ('cellar', 'cellar', now(), to_timestamp(0), sha256('a'), nextval('auth_seq')) RETURNING number`,
  )
  const number = rows[0]?.number ?? 0
  const sweep = createAlertSweep({ pool, nowMs: alerts.nowMs, leads: () => true, log: silentLog })
  t.teardown(() => sweep.close())
  await alerts.fire(number)
  alerts.pass(30)
  await alerts.flush()
  await alerts.apply(alerts.transition(alerts.rule, number, resolved(alerts.nowMs(), 'device_removed')))
  await sweep.run()
  t.equal((await alerts.standing()).length, 1)
  alerts.pass(300)
  t.match(await alerts.flush(), [{ kind: 'resolved' }])
  await sweep.run()
  t.strictSame(await alerts.standing(), [])
})
