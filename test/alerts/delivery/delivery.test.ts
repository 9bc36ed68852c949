/** Notifications from their rows to their receivers, on a real PostgreSQL. */

import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import type { DeliveryOptions } from '../../../alerts/delivery/delivery.ts'
import { forgetErased } from '../../../alerts/outbox/erased-devices.ts'
import { noFeed } from '../../../auth/nodes/change-feed.ts'
import {
  addChannel,
  deliveryParts,
  openDelivery,
  type QueuedNotification,
  queueNotification,
  service,
  webhookAt,
} from '../../support/alert-delivery.ts'
import { alertMessage, messageAlert } from '../../support/alert-message.ts'
import { type AlertReceiver, startReceiver } from '../../support/alert-receiver.ts'
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

const untilState = (webhookId: string, state: string) =>
  waitFor(`it is ${state}`, async () => (await row(webhookId)).state === state)
const untilAttempts = (webhookId: string, count: number) =>
  waitFor(`attempt ${count} is noted`, async () => (await row(webhookId)).attempts === count)

async function attemptsOf(webhookId: string) {
  const { rows } = await pool.query(
    `SELECT status, error, answer, by_hand FROM alert_attempts JOIN alert_notifications ON alert_notifications.id = notification_id
     WHERE webhook_id = $1 ORDER BY alert_attempts.id`,
    [webhookId],
  )
  return rows
}

/** Later tests must not send these notifications. */
const cancelWaiting = () => pool.query("UPDATE alert_notifications SET state = 'cancelled' WHERE state = 'waiting'")

type Answer = AlertReceiver['answer']
const answers =
  (status: number, text = ''): Answer =>
  response =>
    void response.writeHead(status).end(text)
const never: Answer = () => undefined

/** A delivery with one channel and a separate receiver. Each test gives the channel another name. */
async function open(t: Test, name: string, answer?: Answer, more: Partial<DeliveryOptions> = {}) {
  const receiver = await startReceiver(t)
  if (answer !== undefined) receiver.answer = answer
  const parts = deliveryParts(pool)
  const delivery = openDelivery(t, parts, more)
  const { id, secret } = await addChannel(delivery, webhookAt(`${receiver.origin}/hook`, name))
  const queue = (fields: Partial<QueuedNotification> = {}) =>
    queueNotification(pool, { channel: id, nowMs: parts.clock.nowMs, ...fields })
  const channel = () => delivery.channels.get(service, id)
  const sentIds = () => receiver.received.map(({ headers }) => headers['webhook-id'])
  return { receiver, parts, clock: parts.clock, delivery, id, secret, queue, channel, sentIds }
}

t.test('a notification is delivered once, signed, with a record of the attempt', async t => {
  const { receiver, clock, delivery, secret, queue } = await open(t, 'signed', answers(200, 'thanks'))
  const webhookId = await queue()
  delivery.wake()
  await untilState(webhookId, 'delivered')
  t.equal(receiver.received.length, 1)
  const [{ headers, body } = { headers: {}, body: '' }] = receiver.received
  // The test's clock differs from the package's.
  const signature = new Webhook(secret).sign(webhookId, new Date(clock.nowMs), body)
  t.match(headers, { 'webhook-id': webhookId, 'webhook-signature': signature, 'content-type': 'application/json' })
  t.match(await attemptsOf(webhookId), [{ status: 200, error: null, answer: 'thanks', by_hand: false }])
  t.equal((await row(webhookId)).claimed_until, null)
  t.strictSame(delivery.meter.results(), [{ kind: 'webhook', result: 'delivered', count: 1 }])
})

t.test('after 500 for an hour it is retried at 5 s, 5 min, 30 min and two hours, and then delivered', async t => {
  const { receiver, clock, delivery, queue, channel, sentIds } = await open(t, '500', answers(500, 'oh'))
  const webhookId = await queue()
  const waits: number[] = []
  for (let attempts = 1; attempts <= 4; attempts++) {
    delivery.wake()
    await untilAttempts(webhookId, attempts)
    const dueMs = (await row(webhookId)).due_at.getTime()
    waits.push(dueMs - clock.nowMs)
    // The dispatcher can wake by itself, so the next attempt must not be due during these checks.
    if (attempts === 4) break
    // It is not sent a millisecond before its time.
    clock.nowMs = dueMs - 1
    delivery.wake()
    clock.nowMs += 1
  }
  t.strictSame(waits, [5000, 5 * minuteMs, 30 * minuteMs, 2 * hourMs])
  t.match(await channel(), { enabled: true, failing_since: '2026-05-01T10:00:30.000Z' })
  receiver.answer = answers(200)
  clock.nowMs = (await row(webhookId)).due_at.getTime()
  delivery.wake()
  await untilState(webhookId, 'delivered')
  t.strictSame(sentIds(), Array(5).fill(webhookId))
  t.match(await channel(), { failing_since: null })
})

t.test('a channel drops a notification after nine retries', async t => {
  const { parts, clock, delivery, queue, channel } = await open(t, '400', answers(400))
  const webhookId = await queue()
  while ((await row(webhookId)).state === 'waiting') {
    const { attempts, due_at } = await row(webhookId)
    clock.nowMs = Math.max(clock.nowMs, due_at.getTime())
    delivery.wake()
    await untilAttempts(webhookId, attempts + 1)
  }
  t.match(await row(webhookId), { state: 'given_up', attempts: 10 })
  t.match(await channel(), { enabled: true })
  t.strictSame(parts.mailed, [])
})

t.test('a channel that failed for five days is disabled, with one mail to its owner', async t => {
  const { parts, clock, delivery, queue, channel } = await open(t, 'five days', answers(503))
  const first = await queue()
  delivery.wake()
  await untilAttempts(first, 1)
  clock.nowMs += 5 * 24 * hourMs - 1000
  const second = await queue()
  delivery.wake()
  for (const [id, attempts] of [[first, 2] as const, [second, 1] as const]) await untilAttempts(id, attempts)
  t.match(await channel(), { enabled: true })
  clock.nowMs += 10_000
  delivery.wake()
  await waitFor('it is disabled', async () => (await channel())?.enabled === false)
  t.match(await channel(), { disabled_reason: 'failing' })
  for (const id of [first, second]) await untilState(id, 'cancelled')
  t.strictSame(parts.mailed, ['five days'])
})

t.test('410 disables the channel and drops its pending notifications', async t => {
  const { receiver, parts, delivery, id, queue, channel } = await open(t, 'gone', answers(410))
  const sent = await Promise.all([queue(), queue(), queue()])
  delivery.wake()
  const states = async () => (await Promise.all(sent.map(row))).map(({ state }) => state).sort()
  await waitFor('nothing waits', async () => (await states()).join() === 'cancelled,cancelled,given_up')
  t.equal(receiver.received.length, 1)
  t.match(await channel(), { enabled: false, disabled_reason: 'gone' })
  t.strictSame(parts.mailed, ['gone'])
  const enabled = await delivery.channels.change(service, id, { enabled: true }, 'a test')
  t.match(enabled, { ok: true, value: { enabled: true, disabled_reason: null } })
})

t.test('a slow channel with its one notification in flight delays no other', async t => {
  const { receiver: slow, parts, delivery } = await open(t, 'slow', never)
  const fast = await startReceiver(t)
  const { nowMs } = parts.clock
  for (let at = 0; at < 15; at++) {
    const { id } = await addChannel(delivery, webhookAt(`${slow.origin}/slow`, `slow ${at}`))
    for (let count = 0; count < 2; count++) await queueNotification(pool, { channel: id, nowMs })
  }
  const { id } = await addChannel(delivery, webhookAt(`${fast.origin}/fast`))
  const sent = await Promise.all([1, 2, 3].map(() => queueNotification(pool, { channel: id, nowMs })))
  delivery.wake()
  for (const each of sent) await untilState(each, 'delivered')
  await waitFor('each slow one has its first', () => slow.received.length === 15)
  t.equal(new Set(slow.received.map(({ headers }) => headers['webhook-id'])).size, 15)
  await cancelWaiting()
})

t.test('one of several nodes sends, also the claims of a dead one with the same id', async t => {
  const { receiver, parts, clock, delivery: first, queue, sentIds } = await open(t, 'nodes', never)
  const webhookId = await queue()
  first.wake()
  await waitFor('it is under way', () => receiver.received.length === 1)
  let tries = 0
  const second = openDelivery(t, parts, { requireLead: async () => void tries++ })
  const idle = openDelivery(t, parts, { leads: () => false })
  second.wake()
  idle.wake()
  receiver.answer = answers(204)
  await waitFor('the second one has tried', () => tries > 0)
  await second.close()
  t.equal(receiver.received.length, 1, 'no other node sends it while the claim holds')
  const third = openDelivery(t, parts)
  clock.nowMs += 61_000
  third.wake()
  await untilState(webhookId, 'delivered')
  t.strictSame(sentIds(), [webhookId, webhookId])
  await first.close()
  t.match(await row(webhookId), { state: 'delivered', attempts: 1 }, 'the first one has nothing more to say')
})

t.test('a node that does not lead claims nothing, even if it believes that it leads', async t => {
  let asked = 0
  const requireLead = async () => {
    asked += 1
    throw new Error('another node leads')
  }
  const { receiver, delivery, queue } = await open(t, 'lead', undefined, { requireLead })
  const webhookId = await queue()
  delivery.wake()
  await waitFor('it has tried', () => asked > 0)
  await delivery.close()
  t.match(await row(webhookId), { state: 'waiting', attempts: 0, claimed_until: null })
  t.strictSame(receiver.received, [])
  await cancelWaiting()
})

t.test('a stop waits briefly for notifications in flight, and leaves the rest to the next start', async t => {
  const { receiver, parts, delivery, queue } = await open(t, 'stop', never)
  const webhookId = await queue()
  delivery.wake()
  await waitFor('it is under way', () => receiver.received.length === 1)
  await delivery.close()
  t.match(await row(webhookId), { state: 'waiting', attempts: 0, claimed_until: null })
  receiver.answer = answers(204)
  openDelivery(t, parts).wake()
  await untilState(webhookId, 'delivered')
})

t.test('no notification waits longer when the clock is set back an hour', async t => {
  const { receiver, clock, delivery, queue } = await open(t, 'clock')
  const first = await queue()
  clock.nowMs -= hourMs
  delivery.wake()
  await untilState(first, 'delivered')
  receiver.answer = answers(500)
  const second = await queue({ nowMs: clock.nowMs + hourMs })
  delivery.wake()
  await untilAttempts(second, 1)
  delivery.wake()
  await delivery.close()
  t.match(await row(second), { attempts: 1 }, 'and it is not tried without end')
  await cancelWaiting()
})

t.test('an end is not delivered before its beginning', async t => {
  const { receiver, clock, delivery, queue, sentIds } = await open(t, 'line', answers(500))
  const rule = await addRule()
  const firing = await queue({ rule })
  for (let attempts = 1; attempts <= 3; attempts++) {
    delivery.wake()
    await untilAttempts(firing, attempts)
    clock.nowMs = (await row(firing)).due_at.getTime()
  }
  // It is retried early, since newer ones wait for it.
  clock.nowMs -= 29 * minuteMs
  const before = await row(firing)
  const resolved = await queue({ kind: 'resolved', rule })
  const count = receiver.received.length
  delivery.wake()
  await waitFor('the first one is tried', () => receiver.received.length === count + 1)
  const dueMs = async (webhookId: string) => (await row(webhookId)).due_at.getTime()
  await waitFor('they wait as long as it does', async () => (await dueMs(resolved)) === before.due_at.getTime())
  t.match(await row(firing), { state: 'waiting', attempts: 3, due_at: before.due_at }, 'its own times stay')
  receiver.answer = answers(204)
  receiver.received.length = 0
  clock.nowMs += minuteMs
  const next = await queue({ rule })
  delivery.wake()
  await untilState(next, 'delivered')
  t.strictSame(sentIds(), [firing, resolved, next])
})

t.test('a notification rejected for hours lets newer ones of its rule pass', async t => {
  const { receiver, clock, delivery, queue } = await open(t, 'poison')
  const rule = await addRule()
  const poison = await queue({ rule })
  receiver.answer = (response, { headers }) =>
    void response.writeHead(headers['webhook-id'] === poison ? 400 : 204).end()
  const other = await queue({ nowMs: ++clock.nowMs, rule })
  for (let attempts = 1; attempts <= 4; attempts++) {
    delivery.wake()
    await untilAttempts(poison, attempts)
    if (attempts === 4) break
    t.match(await row(other), { state: 'waiting', attempts: 0 })
    clock.nowMs = (await row(poison)).due_at.getTime()
  }
  await untilState(other, 'delivered')
  t.match(await row(poison), { state: 'waiting', attempts: 4 })
  await cancelWaiting()
})

t.test('a person resends a notification with the same id, and sees its result', async t => {
  const { receiver, delivery, id, queue, sentIds } = await open(t, 'replay', answers(404, 'nothing here'))
  const webhookId = await queue()
  delivery.wake()
  await untilAttempts(webhookId, 1)
  const { deliveries } = delivery
  const [listed] = await deliveries.page(service, { channel: id, limit: 10 })
  t.match(listed, { webhook_id: webhookId, rule: 'Freezer too warm', state: 'waiting', kind: 'firing' })
  const asked = listed?.id ?? ''
  const replay = (who: Parameters<typeof deliveries.replay>[0] = service) => deliveries.replay(who, asked, 'a test')
  t.match(await replay(), { ok: true, value: { outcome: 'failed', status: 404 } })
  t.match(await row(webhookId), { state: 'waiting', attempts: 1 }, 'its own retries go on')
  receiver.answer = answers(200, 'now')
  t.match(await replay(), { ok: true, value: { outcome: 'delivered' } })
  t.strictSame(sentIds(), Array(3).fill(webhookId))
  const details = await deliveries.get(service, asked)
  t.match(details, { state: 'delivered', message: { type: 'alert.firing' } })
  t.strictSame(
    details?.attempt_list.map(({ status, answer, by_hand }) => `${status} ${answer} ${by_hand}`),
    ['200 now true', '404 nothing here true', '404 nothing here false'],
  )
  const other = { all: false, account: 1 } as const
  t.strictSame(await deliveries.page(other, { limit: 10 }), [])
  t.equal(await deliveries.get(other, asked), undefined)
  t.match(await replay(other), { ok: false, code: 'DELIVERY_UNKNOWN' })
  for (let at = 0; at < 8; at++) await replay()
  t.match(await replay(), { ok: false, code: 'TOO_MANY_REQUESTS' })
})

t.test('a mail written to a file is listed as written, until a mail server has it', async t => {
  const written = deliveryParts(pool, { hasMailServer: false })
  const delivery = openDelivery(t, written)
  const settings = { to: 'ada@example.com' }
  const { id } = await addChannel(delivery, { name: 'no mail server', kind: 'email', enabled: true, settings })
  const webhookId = await queueNotification(pool, { channel: id, nowMs: written.clock.nowMs })
  delivery.wake()
  await untilState(webhookId, 'delivered')
  const [listed] = await delivery.deliveries.page(service, { channel: id, limit: 10 })
  t.match(listed, { state: 'delivered', written: true })
  const asked = listed?.id ?? ''
  t.match(await delivery.deliveries.get(service, asked), { written: true })
  const mailing = openDelivery(t, deliveryParts(pool))
  t.match(await mailing.deliveries.replay(service, asked, 'a test'), { value: { outcome: 'delivered' } })
  t.match(await mailing.deliveries.page(service, { channel: id, limit: 10 }), [{ state: 'delivered', written: false }])
})

t.test('an erase waits for a manual send, and leaves no response and no values of it', async t => {
  let end: () => void = () => undefined
  const held: Answer = response => {
    end = () => void response.end('it is at 9.75')
  }
  const { receiver, clock, delivery, id, queue } = await open(t, 'erased', held, { leads: () => false })
  // Notifications of other tests keep their claims, by other clocks.
  await queue({ message: alertMessage({ alerts: [messageAlert({ device: 'loft-9', value: 9.75 })] }) })
  const [{ id: asked } = { id: '' }] = await delivery.deliveries.page(service, { channel: id, limit: 1 })
  const replay = () => delivery.deliveries.replay(service, asked, 'a test')
  const sending = replay()
  await waitFor('it is being sent', () => receiver.received.length === 1)
  t.match(await replay(), { ok: false, code: 'TOO_MANY_REQUESTS' }, 'one sender at a time')
  let isErased = false
  let looks = 0
  const nowMs = () => {
    looks++
    return clock.nowMs
  }
  const erased = { numbers: [1], name: 'loft-9', metric: null, untilMs: clock.nowMs }
  const erase = forgetErased({ pool, feed: noFeed, nowMs }, erased).then(() => {
    isErased = true
  })
  await waitFor('it waits', () => isErased || looks > 1)
  t.equal(isErased, false)
  end()
  t.match(await sending, { ok: true, value: { outcome: 'delivered' } })
  await erase
  t.match((await delivery.deliveries.get(service, asked))?.attempt_list, [{ answer: '' }])
  receiver.answer = answers(200)
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
