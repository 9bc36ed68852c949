/** Notifications from their rows to their receivers, against a real PostgreSQL. */

import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { forgetErased } from '../../../alerts/outbox/erased-devices.ts'
import { noFeed } from '../../../auth/nodes/change-feed.ts'
import {
  addChannel,
  deliveryParts,
  openDelivery,
  queueNotification,
  service,
  webhookAt,
} from '../../support/alert-delivery.ts'
import { alertMessage, messageAlert } from '../../support/alert-message.ts'
import { startReceiver } from '../../support/alert-receiver.ts'
import { nowhere, startDatabases } from '../../support/databases.ts'
import { waitFor } from '../../support/wait-for.ts'

const { store } = await startDatabases(t, nowhere)
const pool = store.postgres
const minuteMs = 60_000
const hourMs = 60 * minuteMs

interface Row {
  state: string
  attempts: number
  due_at: Date
  claimed_until: Date | null
}

async function row(webhookId: string): Promise<Row> {
  const text = 'SELECT state, attempts, due_at, claimed_until FROM alert_notifications WHERE webhook_id = $1'
  const { rows } = await pool.query<Row>(text, [webhookId])
  const [found] = rows
  if (found === undefined) throw new Error(`no notification ${webhookId}`)
  return found
}

const isState = (webhookId: string, state: string) => async () => (await row(webhookId)).state === state

async function attemptsOf(webhookId: string) {
  const { rows } = await pool.query(
    `SELECT status, error, answer, by_hand FROM alert_attempts JOIN alert_notifications ON alert_notifications.id = notification_id
     WHERE webhook_id = $1 ORDER BY alert_attempts.id`,
    [webhookId],
  )
  return rows
}

t.test('a notification is delivered once, signed, and its attempt is kept', async t => {
  const receiver = await startReceiver(t)
  receiver.answer = response => void response.end('thanks')
  const parts = deliveryParts(pool)
  const delivery = openDelivery(t, parts)
  const { id, secret } = await addChannel(delivery, webhookAt(`${receiver.origin}/hook`))
  const webhookId = await queueNotification(pool, { channel: id, nowMs: parts.clock.nowMs })
  delivery.wake()
  await waitFor('it is delivered', isState(webhookId, 'delivered'))
  t.equal(receiver.received.length, 1)
  const [{ headers, body } = { headers: {}, body: '' }] = receiver.received
  // The clock of the test is another one than that of the package.
  const signature = new Webhook(secret).sign(webhookId, new Date(parts.clock.nowMs), body)
  t.match(headers, { 'webhook-id': webhookId, 'webhook-signature': signature, 'content-type': 'application/json' })
  t.match(await attemptsOf(webhookId), [{ status: 200, error: null, answer: 'thanks', by_hand: false }])
  t.equal((await row(webhookId)).claimed_until, null)
  t.strictSame(delivery.meter.results(), [{ kind: 'webhook', result: 'delivered', count: 1 }])
})

t.test(
  '500 for an hour: tried again after 5 s, 5 min and 30 min with one id, then after two hours it arrives',
  async t => {
    const receiver = await startReceiver(t)
    receiver.answer = response => void response.writeHead(500).end('oh')
    const parts = deliveryParts(pool)
    const { clock } = parts
    const delivery = openDelivery(t, parts)
    const { id } = await addChannel(delivery, webhookAt(`${receiver.origin}/500`))
    const webhookId = await queueNotification(pool, { channel: id, nowMs: clock.nowMs })
    const waits: number[] = []
    for (let attempts = 1; attempts <= 4; attempts++) {
      delivery.wake()
      await waitFor(`attempt ${attempts} is noted`, async () => (await row(webhookId)).attempts === attempts)
      waits.push((await row(webhookId)).due_at.getTime() - clock.nowMs)
      // Before its time nothing is sent.
      clock.nowMs = (await row(webhookId)).due_at.getTime() - 1
      delivery.wake()
      clock.nowMs += 1
    }
    t.strictSame(waits, [5000, 5 * minuteMs, 30 * minuteMs, 2 * hourMs])
    t.match(await delivery.channels.get(service, id), { enabled: true, failing_since: '2026-05-01T10:00:30.000Z' })
    receiver.answer = response => void response.writeHead(200).end()
    delivery.wake()
    await waitFor('it is delivered', isState(webhookId, 'delivered'))
    t.strictSame(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])), new Set([webhookId]))
    t.equal(receiver.received.length, 5)
    t.match(await delivery.channels.get(service, id), { failing_since: null })
  },
)

t.test('after nine retries it is given up, and the channel goes on', async t => {
  const receiver = await startReceiver(t)
  receiver.answer = response => void response.writeHead(400).end()
  const parts = deliveryParts(pool)
  const delivery = openDelivery(t, parts)
  const { id } = await addChannel(delivery, webhookAt(`${receiver.origin}/400`))
  const webhookId = await queueNotification(pool, { channel: id, nowMs: parts.clock.nowMs })
  while ((await row(webhookId)).state === 'waiting') {
    const { attempts, due_at } = await row(webhookId)
    parts.clock.nowMs = Math.max(parts.clock.nowMs, due_at.getTime())
    delivery.wake()
    await waitFor('one more attempt', async () => (await row(webhookId)).attempts > attempts)
  }
  t.match(await row(webhookId), { state: 'given_up', attempts: 10 })
  t.match(await delivery.channels.get(service, id), { enabled: true })
  t.strictSame(parts.mailed, [])
})

t.test('a channel that has failed for five days is disabled, and its owner is mailed once', async t => {
  const receiver = await startReceiver(t)
  receiver.answer = response => void response.writeHead(503).end()
  const parts = deliveryParts(pool)
  const { clock } = parts
  const delivery = openDelivery(t, parts)
  const { id } = await addChannel(delivery, webhookAt(`${receiver.origin}/5-days`, 'five days'))
  const first = await queueNotification(pool, { channel: id, nowMs: clock.nowMs })
  delivery.wake()
  await waitFor('it has failed', async () => (await row(first)).attempts === 1)
  clock.nowMs += 5 * 24 * hourMs - 1000
  const second = await queueNotification(pool, { channel: id, nowMs: clock.nowMs })
  delivery.wake()
  await waitFor('both have failed', async () => (await row(first)).attempts === 2 && (await row(second)).attempts === 1)
  t.match(await delivery.channels.get(service, id), { enabled: true })
  clock.nowMs += 10_000
  delivery.wake()
  await waitFor('it is disabled', async () => (await delivery.channels.get(service, id))?.enabled === false)
  t.match(await delivery.channels.get(service, id), { disabled_reason: 'failing' })
  await waitFor(
    'nothing waits',
    async () => (await row(first)).state === 'cancelled' && (await row(second)).state === 'cancelled',
  )
  t.strictSame(parts.mailed, ['five days'])
})

t.test('410 disables the channel: what waits for it is not sent', async t => {
  const receiver = await startReceiver(t)
  receiver.answer = response => void response.writeHead(410).end()
  const parts = deliveryParts(pool)
  const delivery = openDelivery(t, parts)
  const { id } = await addChannel(delivery, webhookAt(`${receiver.origin}/410`, 'gone'))
  const sent = await Promise.all(
    [1, 2, 3].map(() => queueNotification(pool, { channel: id, nowMs: parts.clock.nowMs })),
  )
  delivery.wake()
  await waitFor('nothing waits', async () =>
    (await Promise.all(sent.map(row))).every(({ state }) => state !== 'waiting'),
  )
  t.strictSame((await Promise.all(sent.map(row))).map(({ state }) => state).sort(), [
    'cancelled',
    'cancelled',
    'given_up',
  ])
  t.equal(receiver.received.length, 1)
  t.match(await delivery.channels.get(service, id), { enabled: false, disabled_reason: 'gone' })
  t.strictSame(parts.mailed, ['gone'])
  const enabled = await delivery.channels.change(service, id, { enabled: true }, 'a test')
  t.match(enabled, { ok: true, value: { enabled: true, disabled_reason: null } })
})

t.test('a slow channel delays no other, and each has one notification under way', async t => {
  const slow = await startReceiver(t)
  slow.answer = () => undefined
  const fast = await startReceiver(t)
  const parts = deliveryParts(pool)
  const delivery = openDelivery(t, parts)
  const { nowMs } = parts.clock
  const slowIds = await Promise.all(
    Array.from({ length: 15 }, (_, at) => addChannel(delivery, webhookAt(`${slow.origin}/slow`, `slow ${at}`))),
  )
  for (const { id } of slowIds) for (let at = 0; at < 2; at++) await queueNotification(pool, { channel: id, nowMs })
  const { id } = await addChannel(delivery, webhookAt(`${fast.origin}/fast`))
  const sent = await Promise.all([1, 2, 3].map(() => queueNotification(pool, { channel: id, nowMs })))
  delivery.wake()
  await waitFor('all of the fast one are delivered', async () =>
    (await Promise.all(sent.map(row))).every(({ state }) => state === 'delivered'),
  )
  await waitFor('each slow one has its first', () => slow.received.length === 15)
  t.equal(new Set(slow.received.map(({ headers }) => headers['webhook-id'])).size, 15)
  await pool.query("UPDATE alert_notifications SET state = 'cancelled' WHERE state = 'waiting'")
})

t.test('of several nodes one sends, and what a dead one has claimed is sent by another with the same id', async t => {
  const receiver = await startReceiver(t)
  const parts = deliveryParts(pool)
  const first = openDelivery(t, parts)
  const { id } = await addChannel(first, webhookAt(`${receiver.origin}/nodes`))
  receiver.answer = () => undefined
  const webhookId = await queueNotification(pool, { channel: id, nowMs: parts.clock.nowMs })
  first.wake()
  await waitFor('it is under way', () => receiver.received.length === 1)
  let tries = 0
  const second = openDelivery(t, parts, { requireLead: async () => void tries++ })
  const idle = openDelivery(t, parts, { leads: () => false })
  second.wake()
  idle.wake()
  receiver.answer = response => void response.writeHead(204).end()
  await waitFor('the second one has tried', () => tries > 0)
  await second.close()
  t.equal(receiver.received.length, 1, 'while the claim holds nobody else sends it')
  const third = openDelivery(t, parts)
  parts.clock.nowMs += 61_000
  third.wake()
  await waitFor('it is delivered', isState(webhookId, 'delivered'))
  t.strictSame(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    [webhookId, webhookId],
  )
  await first.close()
  t.match(await row(webhookId), { state: 'delivered', attempts: 1 }, 'the first one has nothing more to say')
})

t.test('a node that does not lead claims nothing, whatever it thinks', async t => {
  const receiver = await startReceiver(t)
  const parts = deliveryParts(pool)
  let asked = 0
  const requireLead = async () => {
    asked += 1
    throw new Error('another node leads')
  }
  const delivery = openDelivery(t, parts, { requireLead })
  const { id } = await addChannel(delivery, webhookAt(`${receiver.origin}/lead`))
  const webhookId = await queueNotification(pool, { channel: id, nowMs: parts.clock.nowMs })
  delivery.wake()
  await waitFor('it has tried', () => asked > 0)
  await delivery.close()
  t.match(await row(webhookId), { state: 'waiting', attempts: 0, claimed_until: null })
  t.strictSame(receiver.received, [])
  await pool.query("UPDATE alert_notifications SET state = 'cancelled' WHERE webhook_id = $1", [webhookId])
})

t.test('a stop waits a moment for what is under way, and leaves the rest to the next start', async t => {
  const receiver = await startReceiver(t)
  receiver.answer = () => undefined
  const parts = deliveryParts(pool)
  const delivery = openDelivery(t, parts)
  const { id } = await addChannel(delivery, webhookAt(`${receiver.origin}/stop`))
  const webhookId = await queueNotification(pool, { channel: id, nowMs: parts.clock.nowMs })
  delivery.wake()
  await waitFor('it is under way', () => receiver.received.length === 1)
  await delivery.close()
  t.match(await row(webhookId), { state: 'waiting', attempts: 0, claimed_until: null })
  receiver.answer = response => void response.writeHead(204).end()
  const next = openDelivery(t, parts)
  next.wake()
  await waitFor('it is delivered', isState(webhookId, 'delivered'))
})

t.test('with the clock set back an hour nothing waits an hour longer', async t => {
  const receiver = await startReceiver(t)
  const parts = deliveryParts(pool)
  const { clock } = parts
  const delivery = openDelivery(t, parts)
  const { id } = await addChannel(delivery, webhookAt(`${receiver.origin}/clock`))
  const first = await queueNotification(pool, { channel: id, nowMs: clock.nowMs })
  clock.nowMs -= hourMs
  delivery.wake()
  await waitFor('it is delivered', isState(first, 'delivered'))
  receiver.answer = response => void response.writeHead(500).end()
  const second = await queueNotification(pool, { channel: id, nowMs: clock.nowMs + hourMs })
  delivery.wake()
  await waitFor('it has failed', async () => (await row(second)).attempts === 1)
  delivery.wake()
  await delivery.close()
  t.match(await row(second), { attempts: 1 }, 'and it is not tried without end')
  await pool.query("UPDATE alert_notifications SET state = 'cancelled' WHERE webhook_id = $1", [second])
})

t.test('an end is not delivered before its beginning', async t => {
  const receiver = await startReceiver(t)
  receiver.answer = response => void response.writeHead(500).end()
  const parts = deliveryParts(pool)
  const { clock } = parts
  const delivery = openDelivery(t, parts)
  const { id } = await addChannel(delivery, webhookAt(`${receiver.origin}/line`))
  const rule = await addRule()
  const queue = (kind: string) => queueNotification(pool, { channel: id, nowMs: clock.nowMs, kind, rule })
  const firing = await queue('firing')
  for (let attempts = 1; attempts <= 3; attempts++) {
    delivery.wake()
    await waitFor(`attempt ${attempts}`, async () => (await row(firing)).attempts === attempts)
    clock.nowMs = (await row(firing)).due_at.getTime()
  }
  // Too early for the first one: it is tried for the sake of those behind it.
  clock.nowMs -= 29 * minuteMs
  const before = await row(firing)
  const resolved = await queue('resolved')
  const count = receiver.received.length
  delivery.wake()
  await waitFor('the first one is tried', () => receiver.received.length === count + 1)
  await waitFor(
    'they wait as long as it does',
    async () => (await row(resolved)).due_at.getTime() === before.due_at.getTime(),
  )
  t.match(await row(firing), { state: 'waiting', attempts: 3, due_at: before.due_at }, 'its own times stay')
  receiver.answer = response => void response.writeHead(204).end()
  receiver.received.length = 0
  clock.nowMs += minuteMs
  const next = await queue('firing')
  delivery.wake()
  await waitFor('all are delivered', isState(next, 'delivered'))
  t.strictSame(
    receiver.received.map(({ headers }) => headers['webhook-id']),
    [firing, resolved, next],
  )
})

t.test('one that is refused for hours lets the newer ones of its rule pass', async t => {
  const receiver = await startReceiver(t)
  const parts = deliveryParts(pool)
  const { clock } = parts
  const delivery = openDelivery(t, parts)
  const { id } = await addChannel(delivery, webhookAt(`${receiver.origin}/poison`))
  const rule = await addRule()
  const poison = await queueNotification(pool, { channel: id, nowMs: clock.nowMs, rule })
  receiver.answer = (response, { headers }) =>
    void response.writeHead(headers['webhook-id'] === poison ? 400 : 204).end()
  const other = await queueNotification(pool, { channel: id, nowMs: clock.nowMs + 1, rule })
  clock.nowMs += 1
  for (let attempts = 1; attempts <= 4; attempts++) {
    delivery.wake()
    await waitFor(`attempt ${attempts}`, async () => (await row(poison)).attempts === attempts)
    if (attempts < 4) t.match(await row(other), { state: 'waiting', attempts: 0 })
    if (attempts < 4) clock.nowMs = (await row(poison)).due_at.getTime()
  }
  await waitFor('the newer one is delivered', isState(other, 'delivered'))
  t.match(await row(poison), { state: 'waiting', attempts: 4 })
  await pool.query("UPDATE alert_notifications SET state = 'cancelled' WHERE webhook_id = $1", [poison])
})

t.test('a person sends a notification again, with the same id, and sees what came of it', async t => {
  const receiver = await startReceiver(t)
  receiver.answer = response => void response.writeHead(404).end('nothing here')
  const parts = deliveryParts(pool)
  const delivery = openDelivery(t, parts)
  const { id } = await addChannel(delivery, webhookAt(`${receiver.origin}/replay`))
  const webhookId = await queueNotification(pool, { channel: id, nowMs: parts.clock.nowMs })
  delivery.wake()
  await waitFor('it has failed', async () => (await row(webhookId)).attempts === 1)
  const [listed] = await delivery.deliveries.page(service, { channel: id, limit: 10 })
  t.match(listed, { webhook_id: webhookId, rule: 'Freezer too warm', state: 'waiting', kind: 'firing' })
  const asked = listed?.id ?? ''
  t.match(await delivery.deliveries.replay(service, asked, 'a test'), {
    ok: true,
    value: { outcome: 'failed', status: 404 },
  })
  t.match(await row(webhookId), { state: 'waiting', attempts: 1 }, 'its own retries go on')
  receiver.answer = response => void response.end('now')
  t.match(await delivery.deliveries.replay(service, asked, 'a test'), { ok: true, value: { outcome: 'delivered' } })
  t.strictSame(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])), new Set([webhookId]))
  const details = await delivery.deliveries.get(service, asked)
  t.match(details, { state: 'delivered', message: { type: 'alert.firing' } })
  t.strictSame(
    details?.attempt_list.map(({ status, answer, by_hand }) => [status, answer, by_hand]),
    [
      [200, 'now', true],
      [404, 'nothing here', true],
      [404, 'nothing here', false],
    ],
  )
  const other = { all: false, account: 1 } as const
  t.strictSame(await delivery.deliveries.page(other, { limit: 10 }), [])
  t.equal(await delivery.deliveries.get(other, asked), undefined)
  t.match(await delivery.deliveries.replay(other, asked, 'a test'), { ok: false, code: 'DELIVERY_UNKNOWN' })
  for (let at = 0; at < 8; at++) await delivery.deliveries.replay(service, asked, 'a test')
  t.match(await delivery.deliveries.replay(service, asked, 'a test'), { ok: false, code: 'TOO_MANY_REQUESTS' })
})

t.test('a mail that became a file is listed as written, until a mail server has it', async t => {
  const written = deliveryParts(pool, { hasMailServer: false })
  const delivery = openDelivery(t, written)
  const settings = { to: 'ada@example.com' }
  const { id } = await addChannel(delivery, { name: 'no mail server', kind: 'email', enabled: true, settings })
  const webhookId = await queueNotification(pool, { channel: id, nowMs: written.clock.nowMs })
  delivery.wake()
  await waitFor('it is written', isState(webhookId, 'delivered'))
  const [listed] = await delivery.deliveries.page(service, { channel: id, limit: 10 })
  t.match(listed, { state: 'delivered', written: true })
  const asked = listed?.id ?? ''
  t.match(await delivery.deliveries.get(service, asked), { written: true })
  const mailing = openDelivery(t, deliveryParts(pool))
  t.match(await mailing.deliveries.replay(service, asked, 'a test'), { value: { outcome: 'delivered' } })
  t.match(await mailing.deliveries.page(service, { channel: id, limit: 10 }), [{ state: 'delivered', written: false }])
})

t.test('an erase waits for a send by hand, stores no answer of it, and another replay has no values', async t => {
  const receiver = await startReceiver(t)
  let end: () => void = () => undefined
  receiver.answer = response => {
    end = () => void response.end('it is at 9.75')
  }
  const parts = deliveryParts(pool)
  const nowMs = () => parts.clock.nowMs
  const delivery = openDelivery(t, parts, { leads: () => false })
  const { id } = await addChannel(delivery, webhookAt(`${receiver.origin}/erased`))
  // Notifications of other tests keep claims on clocks of their own.
  const message = alertMessage({ alerts: [messageAlert({ device: 'loft-9', value: 9.75 })] })
  await queueNotification(pool, { channel: id, nowMs: nowMs(), message })
  const [{ id: asked } = { id: '' }] = await delivery.deliveries.page(service, { channel: id, limit: 1 })
  const replay = () => delivery.deliveries.replay(service, asked, 'a test')
  const sending = replay()
  await waitFor('it is being sent', () => receiver.received.length === 1)
  t.match(await replay(), { ok: false, code: 'TOO_MANY_REQUESTS' }, 'one sender at a time')
  let isErased = false
  let looks = 0
  const countedNowMs = () => {
    looks++
    return nowMs()
  }
  const erase = forgetErased(
    { pool, feed: noFeed, nowMs: countedNowMs },
    { numbers: [1], name: 'loft-9', metric: null, untilMs: nowMs() },
  ).then(() => {
    isErased = true
  })
  await waitFor('it waits', () => isErased || looks > 1)
  t.equal(isErased, false)
  end()
  t.match(await sending, { ok: true, value: { outcome: 'delivered' } })
  await erase
  t.match((await delivery.deliveries.get(service, asked))?.attempt_list, [{ answer: '' }])
  receiver.answer = response => void response.end()
  t.match(await replay(), { ok: true })
  t.notMatch(receiver.received.at(-1)?.body, /9\.75|loft-9/)
})

let rules = 0
async function addRule(): Promise<number> {
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO alert_rules (name, condition, for_seconds, keep_firing_seconds, severity, enabled, note, created_at, updated_at)
     VALUES ($2, $1, 0, 0, 'critical', true, '', now(), now()) RETURNING id`,
    [JSON.stringify(alertMessage().rule.condition), `rule ${rules++}`],
  )
  return rows[0]?.id ?? 0
}
