/** Remains of an erased device in notifications, on a real PostgreSQL. */

import t from 'tap'
import { forgetErased, openErasedMails } from '../../../alerts/outbox/erased-devices.ts'
import { type ApplyChange, type ChangeFeed, noFeed } from '../../../auth/nodes/change-feed.ts'
import { createAlertStore, effects } from '../../support/alert-store.ts'
import { recordingLog, sharedPostgres } from '../../support/databases.ts'

const { store } = await sharedPostgres(t)
const pool = store.postgres
const { opened, fired } = effects
const options = { pool, nowMs: Date.now, feed: noFeed }

/** A rule with one channel, whose alerts fire at once. */
async function open() {
  const alerts = await createAlertStore(pool)
  const channel = await alerts.addChannel()
  const { id: rule } = await alerts.addRule({ channels: [channel] })
  const fire = (...devices: number[]) => {
    const at = alerts.nowMs()
    return alerts.apply(...devices.map(device => alerts.transition(rule, device, opened(at), fired(at))))
  }
  return { ...alerts, channel, rule, fire }
}

t.test('notifications lose the name and values of an erased device, and keep those of others', async t => {
  const alerts = await open()
  await alerts.fire(1, 2)
  alerts.pass(30)
  const [before] = await alerts.flush()
  await pool.query(
    `INSERT INTO alert_attempts (notification_id, at, duration_ms, answer) SELECT id, created_at, 1, 'd1, thanks' FROM alert_notifications`,
  )
  await forgetErased(options, { numbers: [1], name: 'd1', metric: null, untilMs: alerts.nowMs() })
  const { rows } = await pool.query('SELECT message, answer FROM alert_notifications JOIN alert_attempts ON true')
  const [{ message, answer }] = rows
  t.notMatch(JSON.stringify(rows), /d1\b|room 1/)
  t.equal(answer, '')
  const erased = { device: null, location: '', value: null, url: before?.message.url }
  const left = before?.message.alerts.map(alert => (alert.device === 'd1' ? { ...alert, ...erased } : alert))
  t.strictSame(message, { ...before?.message, alerts: left })
})

t.test('an erased metric removes only its values', async t => {
  const alerts = await open()
  await alerts.fire(1, 2)
  alerts.pass(30)
  const [notified] = await alerts.flush()
  const before = notified?.message.alerts ?? []
  const metric = before[0]?.metric ?? ''
  const forget = async (metric: string) => {
    await forgetErased(options, { numbers: [1], name: 'd1', metric, untilMs: alerts.nowMs() })
    const { rows } = await pool.query('SELECT message FROM alert_notifications')
    return rows[0].message.alerts
  }
  t.strictSame(await forget('co2'), before, 'another one')
  const without = before.map(alert => (alert.device === 'd1' ? { ...alert, value: null } : alert))
  t.strictSame(await forget(metric), without)
  const { rows } = await pool.query('SELECT value IS NULL AS is_gone FROM alerts ORDER BY device')
  t.strictSame(rows, [{ is_gone: true }, { is_gone: false }])
})

t.test('events and states of pairs lose values and samples', async t => {
  const alerts = await createAlertStore(pool)
  const { id: rule } = await alerts.addRule()
  const at = alerts.nowMs()
  const samples = { timesMs: [at], values: [31] }
  const course = [opened(at), fired(at), effects.resolved(at + 1), opened(at + 2), fired(at + 2)]
  await alerts.apply(
    ...[1, 2].map(device => {
      const transition = alerts.transition(rule, device, ...course)
      return { ...transition, state: { ...transition.state, value: 31, samples } }
    }),
  )
  await forgetErased(options, { numbers: [1], name: 'd1', metric: 'temperature', untilMs: at })
  const { rows } = await pool.query(`
    SELECT DISTINCT kind, device FROM (
      SELECT 'alert' AS kind, device FROM alerts WHERE value IS NOT NULL
      UNION ALL SELECT 'event', device FROM alert_events JOIN alerts ON alerts.id = alert_id WHERE details ? 'value'
      UNION ALL SELECT 'state', device FROM alert_pairs WHERE state->>'value' IS NOT NULL
      UNION ALL SELECT 'samples', device FROM alert_pairs WHERE state ? 'samples') AS valued ORDER BY kind`)
  t.equal(rows.map(({ kind, device }) => `${kind} ${device}`).join(), 'alert 2,event 2,samples 2,state 2')
})

t.test('a device without alerts is found by its name, unless another device had it later', async t => {
  const alerts = await open()
  const notify = async () => {
    await alerts.fire(1)
    alerts.pass(300)
    await alerts.flush()
    await pool.query('DELETE FROM alerts')
  }
  await notify()
  const untilMs = alerts.nowMs()
  alerts.pass(1)
  await notify()
  await forgetErased(options, { numbers: [1], name: 'd1', metric: null, untilMs })
  const text = "SELECT message->'alerts'->0->>'device' AS device FROM alert_notifications ORDER BY id"
  const { rows } = await pool.query(text)
  t.strictSame(rows, [{ device: null }, { device: 'd1' }])
})

t.test('an erase processes more notifications than one step takes', async t => {
  const { channel, rule } = await open()
  await pool.query(
    `INSERT INTO alert_notifications (webhook_id, channel_id, rule_id, kind, severity, message, created_at, due_at)
     SELECT 'msg_' || n, $1, $2, 'firing', 'info', '{"url":"/alerts","alerts":[{"id":"0","device":"porch"}]}', now(), now()
     FROM generate_series(1, 4500) AS n`,
    [channel, rule],
  )
  await forgetErased(options, { numbers: [1], name: 'porch', metric: null, untilMs: Date.now() + 60_000 })
  const { rows } = await pool.query(`SELECT count(*)::int FROM alert_notifications WHERE message::text LIKE '%porch%'`)
  t.strictSame(rows, [{ count: 0 }])
})

t.test('the end of an alert of a device to be erased does not name it', async t => {
  const alerts = await open()
  await pool.query(
    `INSERT INTO devices (number, name, slug, location_short, created_at, removed_at, credential_current, auth_seq)
     OVERRIDING SYSTEM VALUE
     SELECT number, 'd' || number, 'd' || number, 'room', now(), now(), decode(repeat('00', 32), 'hex'), number
     FROM generate_series(1, 2) AS number`,
  )
  await alerts.fire(1, 2)
  for (const device of [1, 2]) alerts.removeDevice(device)
  await pool.query(`INSERT INTO erase_jobs (rows_of, name, numbers, symbols) VALUES ('readings', 'd1', '{1}', '{s1}')`)
  alerts.pass(30)
  const [notified] = await alerts.flush()
  t.strictSame(new Set(notified?.message.alerts.map(({ device }) => device)), new Set([null, 'd2']))
})

/** The feed of several nodes: `settle` waits for the recorded changes. */
function feedOfNodes(): ChangeFeed {
  const appliers: ApplyChange[] = []
  let noted = 0
  return {
    ...noFeed,
    note: (_transaction, kind) => void (kind === 'erased-mail' && noted++),
    onChange: (kind, apply) => void (kind === 'erased-mail' && appliers.push(apply)),
    async settle() {
      if (noted > 0) for (const apply of appliers) await apply([])
      noted = 0
    },
  }
}

t.test('each node removes files of mails about erased devices, and of deleted alerts', async t => {
  await (await open()).fire(1, 2, 3)
  const { rows } = await pool.query<{ id: string; device: number }>('SELECT id::text, device FROM alerts')
  const idOf = (device: number) => rows.find(row => row.device === device)?.id ?? ''
  const { log, texts } = recordingLog('warn')
  const feed = feedOfNodes()
  let isBroken = false
  const openNode = (mails: string[]) => {
    const left = new Set(mails)
    const node = openErasedMails({
      pool,
      feed,
      log,
      async removeMails(header, choose) {
        if (isBroken && left.has('broken')) throw new Error('EACCES')
        t.equal(header, 'x-barograph-alerts')
        for (const id of await choose(left)) left.delete(id)
      },
    })
    return { ...node, left }
  }
  const [first, second] = [openNode(rows.map(({ id }) => id)), openNode([idOf(1), idOf(3), 'no id'])]
  await Promise.all([first.close(), second.close()])
  t.equal(first.left.size, 3, 'nothing is erased')
  const addJob = (device: number, metric: string | null) =>
    pool.query(
      `INSERT INTO erase_jobs (rows_of, name, device, metric, numbers, symbols)
       VALUES (CASE WHEN $2::text IS NULL THEN 'readings' ELSE 'measurements' END, 'd', CASE WHEN $2 IS NOT NULL THEN $1::int END, $2, ARRAY[$1::int], '{}')`,
      [device, metric],
    )
  await addJob(1, null)
  await addJob(3, 'co2')
  await first.removeEverywhere()
  t.strictSame(first.left, new Set([idOf(2), idOf(3)]))
  t.strictSame(second.left, new Set([idOf(3), 'no id']), 'the other node')
  await addJob(3, 'temperature')
  await pool.query("UPDATE erase_jobs SET finished_at = '2000-01-01'")
  await first.removeEverywhere()
  t.strictSame(first.left, new Set([idOf(2), idOf(3)]), 'an alert about the metric that the device sends again')
  await pool.query('UPDATE erase_jobs SET finished_at = NULL')
  await first.removeEverywhere()
  t.strictSame(first.left, new Set([idOf(2)]))
  await pool.query('DELETE FROM alerts')
  await first.removeEverywhere()
  t.strictSame([...first.left, ...second.left], ['no id'])
  isBroken = true
  second.left.add('broken')
  await first.removeEverywhere()
  t.match(texts, ['cannot remove files of mails about erased devices'], 'another node goes on')
  await t.rejects(second.removeEverywhere(), { message: 'EACCES' }, 'the erase is tried again')
  const late = openNode(['17', 'left'])
  await late.close()
  t.strictSame([...late.left], ['left'], 'a node that did not run')
})
