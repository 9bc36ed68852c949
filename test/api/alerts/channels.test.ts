/** Channels and deliveries by HTTP: whose they are, what is shown of them, what is refused, and leaving by the link in a mail. */

import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { bounds } from '../../../alerts/core/bounds.ts'
import { createDelivery, type Delivery, type DeliveryOptions } from '../../../alerts/delivery/delivery.ts'
import { unsubscribeFamily } from '../../../api/alerts/unsubscribe.ts'
import type { Mail } from '../../../auth/mail/templates.ts'
import { addChannel, deliveryParts, openDelivery, queueNotification, service } from '../../support/alert-delivery.ts'
import { startReceiver } from '../../support/alert-receiver.ts'
import { startAlertsApi, tokenHeaders } from '../../support/alerts-api.ts'
import { silentLog } from '../../support/databases.ts'
import { waitFor } from '../../support/wait-for.ts'

let delivery: Delivery | undefined
let parts: ReturnType<typeof deliveryParts> | undefined
const receiver = await startReceiver(t)
receiver.answer = response => void response.end('fine')

const { people, store, ask } = await startAlertsApi(t, (opened, { accounts }) => {
  parts = deliveryParts(opened.postgres, {
    targetsAllowed: [receiver.origin],
    // Nothing is sent but by hand.
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

async function add(channel: object, headers = tokenHeaders as Record<string, string>): Promise<Body> {
  const answer = await ask('POST', path, channel, headers)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body as Body
}

t.test('a channel is added, and its secrets are never shown again', async t => {
  const added = await ask('POST', path, hook, ada.headers)
  const { id, secret } = added.body as Body
  t.match(added, { status: 201, headers: { location: `${path}/${id}` }, body: { secret: /^whsec_/, owner: ada.id } })
  const shown = {
    id,
    owner: ada.id,
    name: 'hook',
    kind: 'webhook',
    enabled: true,
    disabled_reason: null,
    settings: {},
    target: `127.0.0.1:${receiver.port}`,
    failing_since: null,
    version: 1,
  }
  const answers = [
    await ask('GET', `${path}/${id}`, undefined, ada.headers),
    await ask('GET', path, undefined, ada.headers),
    await ask('PATCH', `${path}/${id}`, { name: 'hook' }, ada.headers),
  ]
  t.match(answers[0], { status: 200, body: shown })
  t.match(answers[1], { status: 200, body: { channels: [shown], next: null } })
  for (const { body } of answers) t.notMatch(JSON.stringify(body), /whsec_|secret-path|hidden/)
  const { rows } = await pool.query('SELECT * FROM alert_channels, audit')
  const kept = JSON.stringify(rows)
  t.notMatch(kept, /secret-path|hidden/, 'nor kept as they are')
  t.notOk(kept.includes(String(secret).slice('whsec_'.length)), 'nor kept as they are')
  const rotated = await ask('POST', `${path}/${id}/rotate`, undefined, ada.headers)
  t.match(rotated, { status: 200, body: { secret: /^whsec_/ } })
  t.not((rotated.body as Body)['secret'], secret)
})

t.test('of other people’s channels nobody knows, but administrators', async t => {
  const { id } = await add({ ...hook, name: 'ada’s' }, ada.headers)
  for (const [method, place, body] of [
    ['GET', `${path}/${id}`],
    ['PATCH', `${path}/${id}`, { name: 'mine' }],
    ['DELETE', `${path}/${id}`],
    ['POST', `${path}/${id}/rotate`],
    ['POST', `${path}/${id}/test`],
  ] as const) {
    t.match(
      await ask(method, place, body, bob.headers),
      { status: 404, body: { title: 'channel unknown' } },
      `${method} ${place}`,
    )
  }
  t.match(await ask('GET', path, undefined, bob.headers), { body: { channels: [] } })
  t.match(await ask('GET', `${path}/${id}`, undefined, administrator.headers), { status: 200, body: { name: 'ada’s' } })
  t.match(await ask('GET', `${path}/x`, undefined, ada.headers), { status: 404 })
})

t.test('names are told apart by owner, and no owner has more than a hundred', async t => {
  await add({ ...hook, name: 'same' }, ada.headers)
  await add({ ...hook, name: 'same' }, bob.headers)
  const second = await add({ ...hook, name: 'other' }, bob.headers)
  t.match(await ask('POST', path, { ...hook, name: 'same' }, bob.headers), {
    status: 409,
    body: { title: 'name taken' },
  })
  t.match(await ask('PATCH', `${path}/${second.id}`, { name: 'same' }, bob.headers), { status: 409 })
  const carol = await personOf('carol@example.com')
  for (let at = 0; at < bounds.channelsPerOwner; at++) await add({ ...hook, name: `c${at}` }, carol.headers)
  t.match(await ask('POST', path, hook, carol.headers), { status: 409, body: { title: 'too many channels' } })
  t.match(await ask('GET', `${path}?limit=60`, undefined, carol.headers), {
    body: { channels: { length: 60 }, next: Number },
  })
})

t.test('targets that are refused, with the reason', async t => {
  const refused: [object, Record<string, string>, RegExp][] = [
    [{ ...hook, settings: { url: 'http://127.0.0.1:1/' } }, tokenHeaders, /https/],
    [{ ...hook, settings: { url: 'https://[::ffff:10.0.0.1]/' } }, tokenHeaders, /not public/],
    [{ ...hook, settings: { url: 'https://a:b@example.com/' } }, tokenHeaders, /password/],
    [{ name: 'm', kind: 'email', settings: { to: 'somebody@example.com' } }, ada.headers, /address of the account/],
    [{ name: 'm', kind: 'mqtt', settings: { topic: 'alerts' } }, tokenHeaders, /MQTT_BROKER_URL/],
  ]
  for (const [channel, headers, detail] of refused) {
    const answer = await ask('POST', path, channel, headers)
    t.match(answer, { status: 422, body: { title: 'target refused', detail } }, JSON.stringify(channel))
  }
  const invalid: object[] = [
    { ...hook, kind: 'pager' },
    { ...hook, name: '' },
    { ...hook, name: 'a\nb' },
    { ...hook, settings: {} },
    { ...hook, settings: { url: 'x', secret: 'mine' } },
    { name: 'm', kind: 'email', settings: { to: 'a@b.example\r\nBcc: c@d.example' } },
    { name: 'm', kind: 'mqtt', settings: { topic: 'readings/porch' } },
    { name: 'm', kind: 'mqtt', settings: { topic: '$SYS/a' } },
    { name: 'm', kind: 'mqtt', settings: { topic: 'a/#' } },
  ]
  for (const channel of invalid)
    t.match(await ask('POST', path, channel), { status: 422, body: { title: 'invalid body' } })
})

t.test('people mail themselves, administrators anybody', async t => {
  const own = await add({ name: 'mail', kind: 'email', settings: { to: 'Ada@Example.com' } }, ada.headers)
  t.match(own, { target: 'Ada@example.com', settings: { to: 'Ada@example.com' } })
  t.notHas(own, 'secret')
  const moved = await ask('PATCH', `${path}/${own.id}`, { settings: { to: 'bob@example.com' } }, ada.headers)
  t.match(moved, { status: 422, body: { title: 'target refused' } })
  await add({ name: 'mail', kind: 'email', settings: { to: 'somebody@example.com' } }, administrator.headers)
  t.match(await ask('POST', `${path}/${own.id}/rotate`, undefined, ada.headers), {
    status: 409,
    body: { title: 'channel without secret' },
  })
})

t.test('an administrator mails to their own address once it is confirmed, and the channel says so', async t => {
  const { id: account, headers } = await personOf('new@example.com', 'administrator')
  const own = { name: 'own', kind: 'email', settings: { to: 'new@example.com' } }
  const confirm = (at: Date | null) => people.set(account, { email_verified_at: at })
  const { id } = await add(own, headers)
  t.match((await ask('POST', `${path}/${id}/test`, undefined, headers)).body, { outcome: 'delivered' })
  await confirm(null)
  const detail = 'the address of the account is not confirmed'
  t.match(await ask('GET', `${path}/${id}`, undefined, headers), { body: { notice: detail } })
  t.match((await ask('POST', `${path}/${id}/test`, undefined, headers)).body, { outcome: 'failed', error: detail })
  t.match(await ask('POST', path, { ...own, name: 'again' }, headers), { status: 422, body: { detail } })
  await add({ ...own, name: 'other', settings: { to: 'somebody@example.com' } }, headers)
  await confirm(new Date())
  t.match(await ask('GET', `${path}/${id}`, undefined, headers), { body: { notice: null } })
})

t.test('the right to a topic of the broker is looked at when a notification is sent', async t => {
  const { id: account } = await personOf('mqtt@example.com', 'administrator')
  const published: unknown[] = []
  const publish: DeliveryOptions['publish'] = async messages => void published.push(...messages)
  if (parts === undefined) throw new Error('there is no delivery')
  const { channels, close } = createDelivery({ ...parts.options, publish })
  t.teardown(close)
  const who = { all: false, account }
  const settings = { topic: 'alerts', retain: false }
  const added = await channels.add(who, { name: 'topic', kind: 'mqtt', enabled: true, settings }, 'a test')
  if (!added.ok) throw new Error(added.code)
  t.match(await channels.test(who, added.value.id), { value: { outcome: 'delivered' } })
  await people.set(account, { role: 'user' })
  const error = 'only administrators publish at the broker of the service'
  t.match(await channels.test(who, added.value.id), { value: { outcome: 'failed', error } })
  t.match(await channels.get(who, added.value.id), { notice: error })
  t.equal(published.length, 1)
})

t.test('a password goes to no new address that is set without it', async t => {
  const settings = { url: `${receiver.origin}/a`, username: 'am', password: 'very-secret' }
  const { id } = await add({ name: 'am', kind: 'alertmanager', settings })
  t.match(await ask('GET', `${path}/${id}`), { body: { settings: { username: 'am' } } })
  const sentTo = async () => {
    receiver.received.length = 0
    t.match(await ask('POST', `${path}/${id}/test`), {
      status: 200,
      body: { outcome: 'delivered', status: 200, answer: 'fine' },
    })
    const [sent] = receiver.received
    return [sent?.path, sent?.headers.authorization]
  }
  t.strictSame(await sentTo(), ['/a/api/v2/alerts', `Basic ${btoa('am:very-secret')}`])
  t.match(await ask('PATCH', `${path}/${id}`, { settings: { username: 'other' } }), { status: 200 })
  t.strictSame(await sentTo(), ['/a/api/v2/alerts', `Basic ${btoa('other:very-secret')}`])
  t.match(await ask('PATCH', `${path}/${id}`, { settings: { url: `${receiver.origin}/b` } }), { status: 200 })
  t.strictSame(await sentTo(), ['/b/api/v2/alerts', `Basic ${btoa('other:')}`])
  const unset = await ask('PATCH', `${path}/${id}`, { settings: { username: null } })
  t.match(unset, { status: 200, body: { settings: {}, version: 4 } })
  const wrong = await ask('PATCH', `${path}/${id}`, { settings: { topic: 'x' } })
  t.match(wrong, { status: 422, body: { title: 'invalid body', errors: [{ path: /^settings/ }] } })
})

t.test('a test tells what came of it, is kept with the deliveries, and cannot be sent without end', async t => {
  const dora = await personOf('dora@example.com')
  const { id } = await add(hook, dora.headers)
  receiver.received.length = 0
  receiver.answer = response => void response.writeHead(418).end(`tea from ${hook.settings.url}`)
  const answer = await ask('POST', `${path}/${id}/test`, undefined, dora.headers)
  t.match(answer, {
    status: 200,
    body: { outcome: 'failed', status: 418, error: 'status 418', answer: 'tea from ***' },
  })
  receiver.answer = response => void response.end('fine')
  t.match(JSON.parse(receiver.received[0]?.body ?? ''), {
    type: 'alert.test',
    data: { rule: { name: 'this channel works' } },
  })
  const listed = await ask('GET', `/api/alert-deliveries?channel=${id}`, undefined, dora.headers)
  t.match(listed, {
    status: 200,
    body: { deliveries: [{ kind: 'test', state: 'given_up', attempts: 1, channel: 'hook' }], next: null },
  })
  const [{ id: delivery } = { id: '' }] = (listed.body as { deliveries: { id: string }[] }).deliveries
  const details = await ask('GET', `/api/alert-deliveries/${delivery}`, undefined, dora.headers)
  t.match(details, { status: 200, body: { attempt_list: [{ status: 418, answer: 'tea from ***', by_hand: true }] } })
  t.match(await ask('GET', `/api/alert-deliveries/${delivery}`, undefined, ada.headers), { status: 404 })
  const replayed = await ask('POST', `/api/alert-deliveries/${delivery}/replay`, undefined, dora.headers)
  t.match(replayed, { status: 200, body: { outcome: 'delivered', status: 200 } })
  t.equal(receiver.received[1]?.headers['webhook-id'], receiver.received[0]?.headers['webhook-id'])
  for (let at = 0; at < 8; at++) await ask('POST', `${path}/${id}/test`, undefined, dora.headers)
  t.match(await ask('POST', `${path}/${id}/test`, undefined, dora.headers), { status: 429 })
  t.match(await ask('POST', `/api/alert-deliveries/x/replay`, undefined, dora.headers), { status: 404 })
})

t.test('disabled or removed: nothing waits for it any more, and no rule has it', async t => {
  const { id } = await add({ ...hook, name: 'ends' })
  const queue = () => queueNotification(pool, { channel: id, nowMs: parts?.clock.nowMs ?? 0 })
  const states = async () =>
    (await pool.query('SELECT DISTINCT state FROM alert_notifications WHERE channel_id = $1', [id])).rows
  await queue()
  t.match(await ask('PATCH', `${path}/${id}`, { enabled: false }), { status: 200, body: { enabled: false } })
  t.strictSame(await states(), [{ state: 'cancelled' }])
  const listed = await ask('GET', `/api/alert-deliveries?channel=${id}`)
  const [{ id: delivery } = { id: '' }] = (listed.body as { deliveries: { id: string }[] }).deliveries
  t.match(await ask('POST', `/api/alert-deliveries/${delivery}/replay`), {
    status: 409,
    body: { title: 'channel disabled' },
  })
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

/** A mail channel, and what delivers to it. */
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
  /** The link in the next mail. */
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

t.test('the link asks, and its form ends the mails', async t => {
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

t.test('the token is not in the database, and no other one is good', async t => {
  const { delivery, app, id, mailed } = await startMailing(t)
  const link = await mailed()
  const token = link.slice(-43)
  for (const table of ['alert_channels', 'alert_unsubscribes', 'alert_notifications', 'alert_attempts', 'audit']) {
    t.notMatch(JSON.stringify((await pool.query(`SELECT * FROM ${table}`)).rows), token, table)
  }
  const wrong = [
    '',
    `?token=${'a'.repeat(43)}`,
    `?token=${token}x`,
    `?token=${token.slice(1)}`,
    `?token=${token}&token=${token}`,
    '?token=%00',
  ]
  for (const query of wrong) {
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
