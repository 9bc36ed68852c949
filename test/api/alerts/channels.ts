/** Channels and deliveries by HTTP: owners, shown fields, rejections, and unsubscribing by the link in a mail. */

import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { bounds } from '../../../alerts/core/bounds.ts'
import { createDelivery, type Delivery, type DeliveryOptions } from '../../../alerts/delivery/delivery.ts'
import { unsubscribeFamily } from '../../../api/alerts/unsubscribe.ts'
import type { Mail } from '../../../auth/mail/templates.ts'
import { addChannel, deliveryParts, openDelivery, queueNotification, service } from '../../support/alert-delivery.ts'
import { startReceiver } from '../../support/alert-receiver.ts'
import { valueIn } from '../../support/changed.ts'
import { silentLog } from '../../support/databases.ts'
import { waitFor } from '../../support/wait-for.ts'
import { startAlertsApi, tokenHeaders } from './alerts-api.ts'

let delivery: Delivery | undefined
let parts: ReturnType<typeof deliveryParts> | undefined
const receiver = await startReceiver(t)
receiver.answer = response => void response.end('fine')

const { people, store, ask } = await startAlertsApi(t, (opened, { accounts }) => {
  parts = deliveryParts(opened.postgres, {
    targetsAllowed: [receiver.origin],
    // The node does not lead, so it only sends manually.
    leads: () => false,
    async recipientOf(id) {
      const account = await accounts.memory.get(id)
      if (account === undefined) return undefined
      const { email, emailVerifiedMs, role, isActive } = account
      return { email, isVerified: emailVerifiedMs !== null, isAdministrator: role !== 'user', isActive }
    },
  })
  delivery = createDelivery(parts.options)
  const { channels, deliveries } = delivery
  return { alerts: { channels, deliveries } } as never
})
t.teardown(() => delivery?.close())
const pool = store.postgres
const path = '/api/alert-channels'
const hook = { name: 'hook', kind: 'webhook', settings: { url: `${receiver.origin}/secret-path?key=hidden` } }

async function personOf(email: string, role = 'user') {
  const id = await people.person(email)
  await people.set(id, { role })
  const { cookie } = await people.cookieOf(id)
  return { id, headers: { cookie, origin: 'https://app.example' } }
}

const ada = await personOf('ada@example.com')
const bob = await personOf('bob@example.com')
const administrator = await personOf('admin@example.com', 'administrator')

type Body = Record<string, unknown> & { id: number }

type Headers = Record<string, string>
const get = (place: string, headers?: Headers) => ask('GET', place, undefined, headers)
const post = (place: string, headers?: Headers) => ask('POST', place, undefined, headers)

async function add(channel: object, headers: Headers = tokenHeaders): Promise<Body> {
  const answer = await ask('POST', path, channel, headers)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body as Body
}

t.test('an added channel never shows its secrets again', async t => {
  const added = await ask('POST', path, hook, ada.headers)
  const { id, secret } = added.body as Body
  t.match(added, { status: 201, headers: { location: `${path}/${id}` }, body: { secret: /^whsec_/, owner: ada.id } })
  const about = { id, owner: ada.id, name: 'hook', kind: 'webhook', settings: {}, version: 1 }
  const target = `127.0.0.1:${receiver.port}`
  const shown = { ...about, enabled: true, disabled_reason: null, target, failing_since: null }
  const [one, list] = [await get(`${path}/${id}`, ada.headers), await get(path, ada.headers)]
  t.match(one, { status: 200, body: shown })
  t.match(list, { status: 200, body: { channels: [shown], next: null } })
  const changed = await ask('PATCH', `${path}/${id}`, { name: 'hook' }, ada.headers)
  for (const { body } of [one, list, changed]) t.notMatch(JSON.stringify(body), /whsec_|secret-path|hidden/)
  const { rows } = await pool.query('SELECT * FROM alert_channels, audit')
  const kept = JSON.stringify(rows)
  t.notMatch(kept, /secret-path|hidden/)
  t.notOk(kept.includes(String(secret).slice('whsec_'.length)))
  const rotated = await post(`${path}/${id}/rotate`, ada.headers)
  t.match(rotated, { status: 200, body: { secret: /^whsec_/ } })
  t.not((rotated.body as Body)['secret'], secret)
})

t.test('a channel is unknown to other people, except administrators', async t => {
  const { id } = await add({ ...hook, name: 'ada’s' }, ada.headers)
  const unknown = { status: 404, body: { title: 'channel unknown' } }
  for (const [method, rest, body] of [
    ['GET', ''],
    ['PATCH', '', { name: 'mine' }],
    ['DELETE', ''],
    ['POST', '/rotate'],
    ['POST', '/test'],
  ] as const) {
    t.match(await ask(method, `${path}/${id}${rest}`, body, bob.headers), unknown, `${method} ${rest}`)
  }
  t.match(await get(path, bob.headers), { body: { channels: [] } })
  t.match(await get(`${path}/${id}`, administrator.headers), { status: 200, body: { name: 'ada’s' } })
  t.match(await get(`${path}/x`, ada.headers), { status: 404 })
})

t.test("an owner's channel names are unique, and limited to a hundred", async t => {
  const same = { ...hook, name: 'same' }
  for (const { headers } of [ada, bob]) await add(same, headers)
  const second = await add({ ...hook, name: 'other' }, bob.headers)
  t.match(await ask('POST', path, same, bob.headers), { status: 409, body: { title: 'name taken' } })
  t.match(await ask('PATCH', `${path}/${second.id}`, { name: 'same' }, bob.headers), { status: 409 })
  const carol = await personOf('carol@example.com')
  for (let at = 0; at < bounds.channelsPerOwner; at++) await add({ ...hook, name: `c${at}` }, carol.headers)
  t.match(await ask('POST', path, hook, carol.headers), { status: 409, body: { title: 'too many channels' } })
  t.match(await get(`${path}?limit=60`, carol.headers), { body: { channels: { length: 60 }, next: Number } })
})

t.test('targets are rejected with the reason', async t => {
  const refused: [object, Record<string, string>, RegExp][] = [
    [{ ...hook, settings: { url: 'https://[::ffff:10.0.0.1]/' } }, tokenHeaders, /not public/],
    [{ name: 'm', kind: 'email', settings: { to: 'somebody@example.com' } }, ada.headers, /address of the account/],
    [{ name: 'm', kind: 'mqtt', settings: { topic: 'alerts' } }, tokenHeaders, /MQTT_BROKER_URL/],
  ]
  for (const [channel, headers, detail] of refused) {
    const answer = await ask('POST', path, channel, headers)
    t.match(answer, { status: 422, body: { title: 'target refused', detail } }, JSON.stringify(channel))
  }
  const fields = [{ kind: 'pager' }, { name: '' }, { name: 'a\nb' }, { settings: {} }]
  const topics = ['readings/porch', '$SYS/a', 'a/#'].map(topic => ({ name: 'm', kind: 'mqtt', settings: { topic } }))
  const invalid = [...fields, { settings: { url: 'x', secret: 'mine' } }].map(more => ({ ...hook, ...more }))
  const mail = { name: 'm', kind: 'email', settings: { to: 'a@b.example\r\nBcc: c@d.example' } }
  for (const channel of [...invalid, mail, ...topics])
    t.match(await ask('POST', path, channel), { status: 422, body: { title: 'invalid body' } })
})

t.test('people mail only themselves, administrators any address', async t => {
  const own = await add({ name: 'mail', kind: 'email', settings: { to: 'Ada@Example.com' } }, ada.headers)
  t.match(own, { target: 'Ada@example.com', settings: { to: 'Ada@example.com' } })
  t.notHas(own, 'secret')
  const moved = await ask('PATCH', `${path}/${own.id}`, { settings: { to: 'bob@example.com' } }, ada.headers)
  t.match(moved, { status: 422, body: { title: 'target refused' } })
  await add({ name: 'mail', kind: 'email', settings: { to: 'somebody@example.com' } }, administrator.headers)
  const rotated = await post(`${path}/${own.id}/rotate`, ada.headers)
  t.match(rotated, { status: 409, body: { title: 'channel without secret' } })
})

t.test('a channel shows when it mails to a confirmed address of an administrator', async t => {
  const { id: account, headers } = await personOf('new@example.com', 'administrator')
  const own = { name: 'own', kind: 'email', settings: { to: 'new@example.com' } }
  const confirm = (at: Date | null) => people.set(account, { email_verified_at: at })
  const { id } = await add(own, headers)
  t.match(await post(`${path}/${id}/test`, headers), { body: { outcome: 'delivered' } })
  await confirm(null)
  const detail = 'the address of the account is not confirmed'
  t.match(await get(`${path}/${id}`, headers), { body: { notice: detail } })
  t.match(await post(`${path}/${id}/test`, headers), { body: { outcome: 'failed', error: detail } })
  t.match(await ask('POST', path, { ...own, name: 'again' }, headers), { status: 422, body: { detail } })
  await add({ ...own, name: 'other', settings: { to: 'somebody@example.com' } }, headers)
  await confirm(new Date())
  t.match(await get(`${path}/${id}`, headers), { body: { notice: null } })
})

t.test('the permission for a topic of the broker is checked when a notification is sent', async t => {
  const { id: account } = await personOf('mqtt@example.com', 'administrator')
  const published: unknown[] = []
  const publish: DeliveryOptions['publish'] = async messages => void published.push(...messages)
  if (parts === undefined) throw new Error('there is no delivery')
  const { channels, close } = createDelivery({ ...parts.options, publish })
  t.teardown(close)
  const who = { all: false, account }
  const settings = { topic: 'alerts', retain: false }
  const { id } = valueIn(await channels.add(who, { name: 'topic', kind: 'mqtt', enabled: true, settings }, 'a test'))
  t.match(await channels.test(who, id), { value: { outcome: 'delivered' } })
  await people.set(account, { role: 'user' })
  const error = 'only administrators publish at the broker of the service'
  t.match(await channels.test(who, id), { value: { outcome: 'failed', error } })
  t.match(await channels.get(who, id), { notice: error })
  t.equal(published.length, 1)
})

t.test('a password is not sent to a new address that is set without it', async t => {
  const settings = { url: `${receiver.origin}/a`, username: 'am', password: 'very-secret' }
  const { id } = await add({ name: 'am', kind: 'alertmanager', settings })
  t.match(await get(`${path}/${id}`), { body: { settings: { username: 'am' } } })
  const change = (settings: object) => ask('PATCH', `${path}/${id}`, { settings })
  const sends = async (place: string, credential: string) => {
    receiver.received.length = 0
    const body = { outcome: 'delivered', status: 200, answer: 'fine' }
    t.match(await post(`${path}/${id}/test`), { status: 200, body })
    const [sent] = receiver.received
    t.strictSame([sent?.path, sent?.headers.authorization], [`/${place}/api/v2/alerts`, `Basic ${btoa(credential)}`])
  }
  await sends('a', 'am:very-secret')
  t.match(await change({ username: 'other' }), { status: 200 })
  await sends('a', 'other:very-secret')
  t.match(await change({ url: `${receiver.origin}/b` }), { status: 200 })
  await sends('b', 'other:')
  t.match(await change({ username: null }), { status: 200, body: { settings: {}, version: 4 } })
  const invalid = { title: 'invalid body', errors: [{ path: /^settings/ }] }
  t.match(await change({ topic: 'x' }), { status: 422, body: invalid })
})

t.test('a test returns its outcome, is stored with the deliveries, and is limited', async t => {
  const dora = await personOf('dora@example.com')
  const { id } = await add(hook, dora.headers)
  receiver.received.length = 0
  receiver.answer = response => void response.writeHead(418).end(`tea from ${hook.settings.url}`)
  const test = () => post(`${path}/${id}/test`, dora.headers)
  const outcome = { outcome: 'failed', status: 418, error: 'status 418', answer: 'tea from ***' }
  t.match(await test(), { status: 200, body: outcome })
  receiver.answer = response => void response.end('fine')
  const sent = JSON.parse(receiver.received[0]?.body ?? '')
  t.match(sent, { type: 'alert.test', data: { rule: { name: 'this channel works' } } })
  const listed = await get(`${deliveries}?channel=${id}`, dora.headers)
  const kept = { kind: 'test', state: 'given_up', attempts: 1, channel: 'hook' }
  t.match(listed, { status: 200, body: { deliveries: [kept], next: null } })
  const one = await deliveryOf(id)
  const details = await get(one, dora.headers)
  t.match(details, { status: 200, body: { attempt_list: [{ status: 418, answer: 'tea from ***', by_hand: true }] } })
  t.match(await get(one, ada.headers), { status: 404 })
  t.match(await post(`${one}/replay`, dora.headers), { status: 200, body: { outcome: 'delivered', status: 200 } })
  for (let at = 0; at < 8; at++) await test()
  t.match(await test(), { status: 429 })
  t.match(await post(`${deliveries}/x/replay`, dora.headers), { status: 404 })
})

const deliveries = '/api/alert-deliveries'

/** Returns the path of the newest delivery of a channel. */
async function deliveryOf(channel: number): Promise<string> {
  const { body } = await get(`${deliveries}?channel=${channel}`)
  return `${deliveries}/${(body as { deliveries: { id: string }[] }).deliveries[0]?.id}`
}

t.test('a disabled or removed channel leaves no pending notification', async t => {
  const { id } = await add({ ...hook, name: 'ends' })
  const queue = () => queueNotification(pool, { channel: id, nowMs: parts?.clock.nowMs ?? 0 })
  const states = async () =>
    (await pool.query('SELECT DISTINCT state FROM alert_notifications WHERE channel_id = $1', [id])).rows
  await queue()
  t.match(await ask('PATCH', `${path}/${id}`, { enabled: false }), { status: 200, body: { enabled: false } })
  t.strictSame(await states(), [{ state: 'cancelled' }])
  t.match(await post(`${await deliveryOf(id)}/replay`), { status: 409, body: { title: 'channel disabled' } })
  t.match(await ask('PATCH', `${path}/${id}`, { enabled: true }), { status: 200, body: { enabled: true } })
  await queue()
  const rule = await pool.query<{ id: number }>(
    `INSERT INTO alert_rules (name, condition, for_seconds, keep_firing_seconds, severity, enabled, note, created_at, updated_at)
     VALUES ('r', '{"kind":"silent"}', 0, 0, 'info', true, '', now(), now()) RETURNING id`,
  )
  const ruleId = rule.rows[0]?.id
  await pool.query('INSERT INTO alert_rule_channels VALUES ($1, $2)', [ruleId, id])
  await pool.query('INSERT INTO alert_groups (channel_id, rule_id, due_at) VALUES ($1, $2, now())', [id, ruleId])
  t.match(await ask('DELETE', `${path}/${id}`), { status: 204 })
  t.strictSame(await states(), [{ state: 'cancelled' }])
  for (const table of ['alert_rule_channels', 'alert_groups']) {
    t.equal((await pool.query(`SELECT 1 FROM ${table} WHERE channel_id = $1`, [id])).rowCount, 0, table)
  }
  const { rows } = await pool.query('SELECT settings, sealed FROM alert_channels WHERE id = $1', [id])
  t.match(rows, [{ settings: {}, sealed: Buffer.alloc(0) }])
  t.match(await ask('DELETE', `${path}/${id}`), { status: 404 })
  await add({ ...hook, name: 'ends' })
})

async function startMailing(t: Test) {
  const mails: Mail[] = []
  const mailing = deliveryParts(pool, { send: async mail => void mails.push(mail) })
  const delivery = openDelivery(t, mailing)
  const app = fastify()
  app.register(async scope =>
    unsubscribeFamily({ unsubscribing: delivery.unsubscribing, log: silentLog }).register(scope),
  )
  t.teardown(() => app.close())
  const settings = { to: 'ada+@example.com' }
  const { id } = await addChannel(delivery, { name: `mail ${Math.random()}`, kind: 'email', enabled: true, settings })
  const { nowMs } = mailing.clock
  /** Returns the link in the next mail. */
  async function mailed(): Promise<string> {
    mails.length = 0
    await queueNotification(pool, { channel: id, nowMs })
    delivery.wake()
    await waitFor('the mail is sent', () => mails.length === 1)
    const [mail] = mails
    return String(mail?.headers?.['list-unsubscribe']).slice(1, -1)
  }
  return { delivery, app, id, nowMs, mailed }
}

const pathOf = (link: string) => link.replace('https://barograph.example', '')

t.test('the link shows a form, which ends the mails', async t => {
  const { delivery, app, id, nowMs, mailed } = await startMailing(t)
  const link = await mailed()
  t.match(link, /^https:\/\/barograph\.example\/alerts\/unsubscribe\?token=[\w-]{43}$/)
  const asked = await app.inject({ url: pathOf(link) })
  t.match(asked, { statusCode: 200, headers: { 'content-type': /html/, 'cache-control': 'no-store' } })
  t.match(asked.body, /ada\+@example\.com/)
  t.match(asked.body, /<form method="post" action="unsubscribe\?token=/)
  t.match(await delivery.channels.get(service, id), { enabled: true }, 'a look changes nothing')
  const waiting = await queueNotification(pool, { channel: id, nowMs, dueMs: nowMs + 1e9 })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const form = { url: pathOf(link), headers, payload: 'List-Unsubscribe=One-Click' }
  const posted = await app.inject({ method: 'POST', ...form })
  t.match(posted, { statusCode: 200, body: /sends no more mails/ })
  t.match(await delivery.channels.get(service, id), { enabled: false, disabled_reason: 'unsubscribed' })
  const { rows } = await pool.query('SELECT state FROM alert_notifications WHERE webhook_id = $1', [waiting])
  t.strictSame(rows, [{ state: 'cancelled' }])
  t.equal((await app.inject({ method: 'POST', url: pathOf(link) })).statusCode, 200, 'twice does no harm')
})

t.test('the token is not in the database', async t => {
  const { delivery, app, id, mailed } = await startMailing(t)
  const link = await mailed()
  const token = link.slice(-43)
  for (const table of ['alert_channels', 'alert_unsubscribes', 'alert_notifications', 'alert_attempts', 'audit']) {
    t.notMatch(JSON.stringify((await pool.query(`SELECT * FROM ${table}`)).rows), token, table)
  }
  const wrong = ['a'.repeat(43), `${token}x`, token.slice(1), `${token}&token=${token}`, '%00']
  for (const query of ['', ...wrong.map(text => `?token=${text}`)]) {
    for (const method of ['GET', 'POST'] as const) {
      const answer = await app.inject({ method, url: `/alerts/unsubscribe${query}` })
      t.equal(answer.statusCode, 404, `${method} ${query}`)
    }
  }
  t.match(await delivery.channels.get(service, id), { enabled: true })
  t.equal((await app.inject({ method: 'DELETE', url: pathOf(link) })).statusCode, 405)
  await delivery.channels.change(service, id, { settings: { to: 'grace@example.com' } }, 'a test')
  t.equal((await app.inject({ url: pathOf(link) })).statusCode, 404, 'after the address has changed')
  await delivery.channels.remove(service, id, 'a test')
  t.equal((await pool.query('SELECT 1 FROM alert_unsubscribes WHERE channel_id = $1', [id])).rowCount, 0)
})
