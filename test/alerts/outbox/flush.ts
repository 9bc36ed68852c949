/** Contents and times of notifications: groups, repeats, silences, on a real PostgreSQL and the test's clock. */

import t, { type Test } from 'tap'
import { createAlertStore, effects, everybody, startMs } from '../../support/alert-store.ts'
import { sharedPostgres } from '../../support/databases.ts'

const { store } = await sharedPostgres(t)
const pool = store.postgres
const { opened, fired, resolved, flapping, settled } = effects
const minute = 60
const sites = (device: number) => [`site:${device < 10 ? 'berlin' : 'paris'}`]

const sorted = (texts: readonly string[]) => texts.toSorted((a, b) => (a < b ? -1 : 1))

async function open(fields: Record<string, unknown> = {}, tagsOf = sites) {
  const alerts = await createAlertStore(pool, tagsOf)
  const channel = await alerts.addChannel()
  const { id: rule } = await alerts.addRule({ channels: [channel], ...fields })
  const fire = (...devices: number[]) =>
    alerts.apply(...devices.map(each => alerts.transition(rule, each, opened(alerts.nowMs()), fired(alerts.nowMs()))))
  const resolve = (...devices: number[]) =>
    alerts.apply(...devices.map(device => alerts.transition(rule, device, resolved(alerts.nowMs()))))
  const flushed = async (...more: Parameters<typeof alerts.flush>) =>
    (await alerts.flush(...more)).map(({ kind, message }) => {
      return `${kind}: ${message.alerts.map(({ device, state }) => `${device} ${state}`).join(', ')}`
    })
  /** Fires alerts of these devices, and passes the wait of their group. */
  async function notifyOf(...devices: number[]): Promise<void> {
    await fire(...devices)
    alerts.pass(30)
    await alerts.flush()
  }
  /** Checks the notifications after so many seconds. */
  async function after(t: Test, seconds: number, ...expected: string[]): Promise<void> {
    alerts.pass(seconds)
    t.strictSame(await flushed(), expected)
  }
  return { ...alerts, channel, rule, fire, resolve, flushed, after, notifyOf }
}

t.test('the first notification waits half a minute, the next ones five minutes', async t => {
  const alerts = await open()
  await alerts.fire(1)
  await alerts.after(t, 29)
  await alerts.fire(2)
  await alerts.after(t, 1, 'firing: d2 firing, d1 firing')
  await alerts.fire(3)
  await alerts.resolve(1)
  await alerts.after(t, 5 * minute - 1)
  await alerts.after(t, 1, 'firing: d3 firing, d1 resolved, d2 firing')
  await alerts.resolve(2)
  await alerts.after(t, 5 * minute, 'resolved: d2 resolved, d3 firing')
})

t.test('a message has all known fields', async t => {
  const alerts = await open({ name: 'warm', note: 'open a window', group_by: 'site', severity: 'critical' })
  await alerts.fire(1)
  alerts.pass(30)
  const [notified] = await alerts.flush()
  const { id = '' } = notified?.message.alerts[0] ?? {}
  t.strictSame(notified?.message, {
    type: 'alert.firing',
    timestamp: '2026-05-04T12:00:30.000Z',
    rule: {
      ...{ id: alerts.rule, name: 'warm', severity: 'critical', note: 'open a window' },
      condition: { kind: 'above', value: 30, metric: 'temperature', hysteresis: 0 },
    },
    group: { tag: 'site', value: 'berlin' },
    counts: { firing: 1, resolved: 0, flapping: 0, silenced: 0 },
    devices_left_out: 0,
    alerts: [
      {
        ...{ id, state: 'firing', device: 'd1', location: 'room 1', metric: 'temperature', value: 31, unit: '°C' },
        ...{ fired_at: '2026-05-04T12:00:00.000Z', resolved_at: null, acknowledged_by: null },
        url: 'https://barograph.example/device/d1',
      },
    ],
    url: `https://barograph.example/alerts?rule=${alerts.rule}`,
  })
  const { rows } = await pool.query('SELECT webhook_id, severity, rule_id, state FROM alert_notifications')
  t.match(rows, [{ webhook_id: /^msg_[0-9A-Za-z]{24}$/, severity: 'critical', rule_id: alerts.rule, state: 'waiting' }])
})

t.test('alerts are grouped by the value of a tag', async t => {
  const alerts = await open({ group_by: 'site' })
  await alerts.fire(1, 11, 2, 12)
  alerts.pass(30)
  t.strictSame(sorted(await alerts.flushed()), ['firing: d12 firing, d11 firing', 'firing: d2 firing, d1 firing'])
})

t.test('a message names twenty alerts, and counts the rest', async t => {
  const alerts = await open()
  await alerts.fire(...Array.from({ length: 50 }, (_, index) => index + 1))
  alerts.pass(30)
  const [notified, ...more] = await alerts.flush()
  t.strictSame(more, [])
  t.equal(notified?.message.alerts.length, 20)
  t.equal(notified?.message.alerts[0]?.device, 'd50')
  t.match(notified?.message, { counts: { firing: 50 }, devices_left_out: 30 })
})

t.test('a kind with complete messages gets all alerts in slices, and again before they expire', async t => {
  const alerts = await open()
  const kindOf = () => ({ wantsAll: true, refreshMs: 60_000 })
  await alerts.fire(...Array.from({ length: 501 }, (_, index) => index + 1))
  alerts.pass(30)
  const flush = async () =>
    (await alerts.flush({ kindOf })).map(
      ({ kind, message }) => `${kind} ${message.alerts.length} ${message.devices_left_out}`,
    )
  t.strictSame(await flush(), ['firing 500 0', 'firing 1 0'])
  alerts.pass(60)
  t.strictSame(await flush(), ['refresh 500 0', 'refresh 1 0'])
  await alerts.resolve(1)
  alerts.pass(60)
  t.strictSame(await flush(), ['refresh 500 0', 'resolved 1 0'])
  alerts.pass(60)
  t.strictSame(await flush(), ['refresh 500 0'])
  await pool.query("UPDATE alerts SET acknowledged_by = 'ada', acknowledged_at = now()")
  alerts.pass(60)
  t.strictSame(await flush(), ['refresh 500 0'], 'acknowledged or not')
  const text =
    "SELECT kind || ' ' || state AS entry, count(*)::int FROM alert_notifications GROUP BY entry ORDER BY entry"
  const counts = (await pool.query<{ entry: string; count: number }>(text)).rows
  t.strictSame(
    counts.map(({ entry, count }) => `${entry} ${count}`),
    // Outdated notifications are cancelled. Slices of one moment stay.
    ['firing waiting 2', 'refresh cancelled 4', 'refresh waiting 1', 'resolved waiting 1'],
  )
})

t.test('firing alerts are repeated after four hours, until they are acknowledged', async t => {
  const alerts = await open()
  await alerts.notifyOf(1, 2)
  await alerts.after(t, 4 * 3600 - 1)
  await alerts.after(t, 1, 'repeat: d2 firing, d1 firing')
  const [two, one] = await alerts.alerts.page(everybody, { limit: 10 })
  const acknowledge = (id = '', actor = 'ada') => alerts.alerts.acknowledge(everybody, id, actor)
  const acknowledged = { acknowledged_by: 'ada', acknowledged_at: /^2026-05-04T16:00:30/ }
  t.match(await acknowledge(one?.id), { ok: true, value: acknowledged })
  t.match(await acknowledge(one?.id, 'bob'), { ok: true, value: { acknowledged_by: 'ada' } })
  alerts.pass(4 * 3600)
  t.match(await alerts.flush(), [{ kind: 'repeat', message: { counts: { firing: 2 } } }])
  await acknowledge(two?.id)
  await alerts.after(t, 4 * 3600)
  await alerts.resolve(1)
  await alerts.after(t, 30, 'resolved: d1 resolved, d2 firing')
  t.strictSame(await acknowledge(one?.id), { ok: false, code: 'ALERT_RESOLVED' })
  t.strictSame(await acknowledge('999999'), { ok: false, code: 'ALERT_UNKNOWN' })
})

t.test('a pending repeat is dropped when the group has news', async t => {
  const alerts = await open({ group_by: 'site' })
  const states = async (kind: string) => {
    const { rows } = await pool.query<{ state: string; place: string }>(
      `SELECT state, message->'group'->>'value' AS place FROM alert_notifications WHERE channel_id = $1 AND kind = $2 ORDER BY id`,
      [alerts.channel, kind],
    )
    return rows.map(({ state, place }) => `${place} ${state}`)
  }
  await alerts.notifyOf(1, 10)
  alerts.pass(4 * 3600)
  await alerts.flush()
  t.strictSame(sorted(await states('repeat')), ['berlin waiting', 'paris waiting'])
  await alerts.resolve(1)
  await alerts.after(t, 5 * minute, 'resolved: d1 resolved')
  t.strictSame(sorted(await states('repeat')), ['berlin cancelled', 'paris waiting'], 'of this group')
  t.strictSame(sorted(await states('firing')), ['berlin waiting', 'paris waiting'], 'news is notified')
  alerts.pass(4 * 3600)
  await alerts.flush()
  t.strictSame(sorted(await states('repeat')), ['berlin cancelled', 'paris cancelled', 'paris waiting'])
})

t.test('an alert that ended before its notification is notified if it fired for a minute', async t => {
  const alerts = await open()
  await alerts.fire(1, 2)
  await alerts.apply(
    alerts.transition(alerts.rule, 1, resolved(startMs + 59_999)),
    alerts.transition(alerts.rule, 2, resolved(startMs + 60_000)),
  )
  await alerts.apply(alerts.transition(alerts.rule, 3, opened(startMs), fired(startMs), resolved(startMs + 60_000)))
  await alerts.apply(alerts.transition(alerts.rule, 4, opened(startMs), fired(startMs), resolved(startMs + 1000)))
  await alerts.apply(
    alerts.transition(alerts.rule, 5, opened(startMs), fired(startMs), resolved(startMs + 90_000, 'device_removed')),
  )
  await alerts.after(t, 100, 'resolved: d3 resolved, d2 resolved')
  t.equal((await pool.query('SELECT FROM alert_group_alerts')).rowCount, 0)
  await alerts.after(t, 100_000)
})

t.test('a flapping alert is notified once, and then its end', async t => {
  const alerts = await open()
  await alerts.notifyOf(1)
  await alerts.apply(alerts.transition(alerts.rule, 1, flapping(alerts.nowMs())))
  await alerts.after(t, 5 * minute, 'flapping: d1 flapping')
  await alerts.after(t, 30 * minute)
  await alerts.apply(alerts.transition(alerts.rule, 1, settled(alerts.nowMs()), resolved(alerts.nowMs())))
  await alerts.after(t, 30, 'resolved: d1 resolved')
  await alerts.apply(
    alerts.transition(alerts.rule, 2, opened(alerts.nowMs()), fired(alerts.nowMs()), flapping(alerts.nowMs())),
  )
  alerts.pass(5 * minute)
  t.strictSame(await alerts.flushed(), ['flapping: d2 flapping'], 'its firing with it')
})

t.test('a silence holds notifications of firing alerts until its end', async t => {
  const alerts = await open()
  const { silences } = alerts
  const until = new Date(startMs + 12 * minute * 1000).toISOString()
  const silence = { selector: { devices: ['d1', 'd2'] }, rule_id: null, until, weekly: null, reason: 'works' }
  const added = await silences.add(everybody, silence, 'ada')
  const id = added.ok ? added.value.id : 0
  await alerts.fire(1, 2, 3)
  alerts.pass(30)
  t.match(await alerts.flush(), [{ message: { counts: { firing: 1, silenced: 2 }, alerts: [{ device: 'd3' }] } }])
  const shown = await alerts.alerts.page(everybody, { limit: 10 })
  t.strictSame(
    shown.map(({ device, silenced_by }) => `${device} ${silenced_by}`),
    ['d3 null', `d2 ${id}`, `d1 ${id}`],
  )
  const one = await alerts.alerts.get(everybody, shown[2]?.id ?? '')
  t.match(one?.events.at(-1), { kind: 'silenced', details: { silence: id } })
  await alerts.after(t, 5 * minute)
  await alerts.resolve(1)
  await alerts.after(t, 5 * minute)
  await alerts.after(t, 89)
  alerts.pass(1)
  t.strictSame(await alerts.flushed(), ['firing: d2 firing, d3 firing'], 'the other one is over')
  const events = ['pending', 'firing', 'silenced', 'resolved']
  t.match((await alerts.standing())[0], { device: 1, events, members: [] })
})

t.test('a silence never holds the end of a notified alert', async t => {
  const alerts = await open()
  await alerts.notifyOf(1)
  const until = new Date(startMs + 864e5).toISOString()
  const silence = { selector: { all: true as const }, rule_id: alerts.rule, until, weekly: null, reason: '' }
  const added = await alerts.silences.add(everybody, silence, 'ada')
  alerts.pass(4 * 3600)
  t.strictSame(await alerts.flushed(), [], 'no repeat')
  await alerts.resolve(1)
  await alerts.fire(2)
  await alerts.after(t, 30, 'resolved: d1 resolved')
  const id = added.ok ? added.value.id : 0
  t.strictSame(await alerts.silences.remove(everybody, id, 'ada'), { ok: true, value: undefined })
  t.strictSame(await alerts.silences.remove(everybody, id, 'ada'), { ok: false, code: 'SILENCE_UNKNOWN' })
  await alerts.after(t, 5 * minute, 'firing: d2 firing')
})

t.test("a silent site holds its devices' notifications until its return", async t => {
  const alerts = await open({ condition: { kind: 'silent' } })
  const site = await alerts.addRule({
    ...{ channels: [alerts.channel], selector: { tags: ['site:berlin'] } },
    condition: { kind: 'site_silent', share: 0.5 },
  })
  await alerts.apply(alerts.transition(site.id, 0, opened(startMs), fired(startMs)))
  await alerts.fire(1, 2, 11)
  alerts.pass(30)
  t.strictSame(sorted(await alerts.flushed()), ['firing: d11 firing', 'firing: null firing'])
  alerts.pass(10)
  await alerts.resolve(1)
  await alerts.apply(alerts.transition(site.id, 0, resolved(alerts.nowMs())))
  alerts.pass(290)
  t.strictSame(sorted(await alerts.flushed()), ['firing: d2 firing, d11 firing', 'resolved: null resolved'])
})

t.test('a disabled channel gets no notification, also not later', async t => {
  const alerts = await open()
  await alerts.notifyOf(1)
  await alerts.fire(2)
  await pool.query('UPDATE alert_channels SET enabled = false')
  await alerts.after(t, 5 * minute)
  await alerts.fire(3)
  await pool.query('UPDATE alert_channels SET enabled = true')
  await alerts.fire(4)
  await alerts.resolve(1)
  await alerts.after(t, 5 * minute, 'firing: d4 firing, d1 resolved')
})

t.test("the end of a removed device's alert has its name", async t => {
  const alerts = await open()
  const { rows } = await pool.query<{ number: number }>(
    `INSERT INTO devices (name, slug, location_short, created_at, removed_at, credential_current, auth_seq)
     VALUES ('cellar', 'cellar', 'below', now(), now(), sha256('a'), nextval('auth_seq')) RETURNING number`,
  )
  const number = rows[0]?.number ?? 0
  await alerts.notifyOf(number)
  alerts.removeDevice(number)
  await alerts.apply(alerts.transition(alerts.rule, number, resolved(alerts.nowMs(), 'device_removed')))
  alerts.pass(5 * minute)
  t.match(await alerts.flush(), [{ message: { alerts: [{ device: 'cellar', location: 'below', state: 'resolved' }] } }])
})

t.test('after the clock is set back, a group waits no longer than by the correct clock', async t => {
  const alerts = await open()
  alerts.pass(3600)
  await alerts.notifyOf(1)
  alerts.pass(-3600)
  await alerts.fire(2)
  await alerts.after(t, 5 * minute, 'firing: d2 firing, d1 firing')
  await alerts.resolve(1)
  await alerts.after(t, 5 * minute, 'resolved: d1 resolved, d2 firing')
})

t.test('a group with news seven times in an hour waits half an hour', async t => {
  const alerts = await open()
  for (let device = 1; device <= 7; device++) {
    await alerts.fire(device)
    alerts.pass(device === 1 ? 30 : 5 * minute)
    t.equal((await alerts.flushed()).length, 1)
  }
  await alerts.fire(8)
  await alerts.after(t, 30 * minute - 1)
  alerts.pass(1)
  t.equal((await alerts.flushed()).length, 1)
})
