/** The requests of each kind of channel. */

import { Webhook } from 'standardwebhooks'
import { test } from 'tap'
import type { ChannelKindName, ChannelSettings } from '../../../alerts/core/channel.ts'
import type { Message } from '../../../alerts/core/message.ts'
import { type AttemptResult, delivered } from '../../../alerts/delivery/attempt.ts'
import type { AlertMail, OwnSecrets, Posted, Published, Tools } from '../../../alerts/delivery/kinds/kind.ts'
import { channelKinds, kindOf } from '../../../alerts/delivery/kinds/kinds.ts'
import { createSigningSecret, rotatedSecrets } from '../../../alerts/delivery/signing.ts'
import { alertMessage, messageAlert } from '../../support/alert-message.ts'

const signal = new AbortController().signal

/** Hostile names of rules and devices. */
const evil = '<!channel> "><script>alert(1)</script> @everyone &amp; {{x}} %0d%0aBcc: a@b.example'
const evilMessage = () =>
  alertMessage({
    rule: { ...alertMessage().rule, name: evil, note: evil },
    alerts: [messageAlert({ device: evil, location: evil })],
  })

interface Sender {
  own?: OwnSecrets
  nowMs?: number
  hasMailServer?: boolean
  answer?: AttemptResult
}

async function sent<Kind extends ChannelKindName>(
  kind: Kind,
  settings: ChannelSettings<Kind>,
  message: Message,
  { own = {}, nowMs = Date.now(), hasMailServer = true, answer = delivered(1) }: Sender = {},
) {
  const posted: Posted[] = []
  const mails: AlertMail[] = []
  const published: Published[] = []
  const tools: Tools = {
    async post(each) {
      posted.push(each)
      return answer
    },
    sendMail: async mail => void mails.push(mail),
    hasMailServer,
    publish: async messages => void published.push(...messages),
    nowMs: () => nowMs,
    timeZone: 'Europe/Berlin',
    publicUrl: () => 'https://barograph.example',
  }
  const { deliver } = channelKinds[kind]
  const result = await deliver({ message, webhookId: 'msg_1', settings, own, tools }, signal)
  return { result, posted, mails, published, json: posted[0] === undefined ? undefined : JSON.parse(posted[0].body) }
}

function only(posted: readonly Posted[]): Posted & { headers: Record<string, string> } {
  const [one] = posted
  if (one === undefined || posted.length > 1) throw new Error(`${posted.length} requests`)
  return one
}

test('a webhook is verified by the package of the standard, with the issued secret', async t => {
  const signing = { secret: createSigningSecret() }
  const { posted } = await sent('webhook', { url: 'https://a.example/hook' }, alertMessage(), { own: { signing } })
  const { headers, body, url } = only(posted)
  t.equal(url, 'https://a.example/hook')
  t.equal(headers['webhook-id'], 'msg_1')
  const verified = new Webhook(signing.secret).verify(body, headers)
  t.match(verified, { type: 'alert.firing', timestamp: '2026-05-01T10:00:30.000Z', data: { rule: { id: 3 } } })
  t.throws(() => new Webhook(createSigningSecret()).verify(body, headers), 'with another secret')
  t.throws(() => new Webhook(signing.secret).verify(body.replace('cellar-1', 'cellar-2'), headers), 'another body')
  t.throws(() => new Webhook(signing.secret).verify(body, { ...headers, 'webhook-id': 'msg_2' }), 'another id')
})

test('after a rotation both secrets verify for a day, then only the new one', async t => {
  const before = { secret: createSigningSecret() }
  const nowMs = Date.now()
  for (const hours of [23, 25]) {
    const signing = rotatedSecrets(before, nowMs - hours * 3_600_000)
    t.not(signing.secret, before.secret)
    const { posted } = await sent('webhook', { url: 'https://a.example/' }, alertMessage(), { own: { signing }, nowMs })
    const { headers, body } = only(posted)
    t.ok(new Webhook(signing.secret).verify(body, headers))
    const old = () => new Webhook(before.secret).verify(body, headers)
    if (hours < 24) t.ok(old())
    else t.throws(old)
  }
})

test('a mail has text, HTML and a link to unsubscribe, and no user text in its headers', async t => {
  const own = { unsubscribe: 'T'.repeat(43) }
  const { mails } = await sent('email', { to: 'ada@example.com' }, alertMessage(), { own })
  const [mail] = mails
  t.match(mail, {
    to: 'ada@example.com',
    subject: 'Firing: Freezer too warm, cellar-1',
    headers: {
      'message-id': '<msg_1@barograph.example>',
      references: '<alert-rule-3@barograph.example>',
      'list-unsubscribe': `<https://barograph.example/alerts/unsubscribe?token=${'T'.repeat(43)}>`,
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
      'x-barograph-alerts': '7',
    },
  })
  const test = (await sent('email', { to: 'ada@example.com' }, alertMessage({ alerts: [] }))).mails[0]
  t.notOk(Object.hasOwn(test?.headers ?? {}, 'x-barograph-alerts'), 'the test of a channel')
  t.equal(
    mail?.text,
    `Firing: Freezer too warm, cellar-1
Severity: critical. Rule: Temperature above 8 °C.

- cellar-1 (Cellar): temperature 9.1 °C, firing since 2026-05-01 12:00
  https://barograph.example/device/cellar-1

Close the door

All alerts of this rule: https://barograph.example/alerts?rule=3

Times are of Europe/Berlin.
Sent by Barograph at barograph.example

No more of these mails: https://barograph.example/alerts/unsubscribe?token=${'T'.repeat(43)}
`,
  )
  t.match(mail?.html, /<a href="https:\/\/barograph\.example\/device\/cellar-1">cellar-1 \(Cellar\)/)
  const hostile = (await sent('email', { to: 'ada@example.com' }, evilMessage(), { own })).mails[0]
  t.notMatch(hostile?.html, /<script|<!channel/)
  t.notMatch(JSON.stringify(hostile?.headers), /channel|script|Bcc/)
  t.notMatch(hostile?.subject, /[\r\n]/)
})

test('a mail without a mail server is written to a file, and not delivered', async t => {
  const written = await sent('email', { to: 'ada@example.com' }, alertMessage(), { hasMailServer: false })
  t.match(written.result, { outcome: 'written', answer: 'written to a file: no mail server (SMTP_URL)' })
  t.match((await sent('email', { to: 'ada@example.com' }, alertMessage())).result, { outcome: 'delivered', answer: '' })
})

test('the message of a resolved alert shows both times', async t => {
  const alert = messageAlert({ state: 'resolved', resolved_at: '2026-05-01T11:30:00.000Z' })
  const message = alertMessage({ type: 'alert.resolved', alerts: [alert] })
  const { mails } = await sent('email', { to: 'a@b.example' }, message)
  t.match(mails[0]?.subject, /^Resolved: Freezer too warm, cellar-1$/)
  t.match(mails[0]?.text, /temperature 9.1 °C, resolved 2026-05-01 13:30, had fired since 2026-05-01 12:00/)
})

test('a message that names only some alerts has their total', async t => {
  const alerts = Array.from({ length: 20 }, (_, at) => messageAlert({ device: `d${at}` }))
  const { mails } = await sent('email', { to: 'a@b.example' }, alertMessage({ alerts, devices_left_out: 380 }))
  t.equal(mails[0]?.subject, 'Firing: Freezer too warm, 400 alerts')
  t.match(mails[0]?.text, /d19 .*\n.*\nand 380 more\n/)
})

test('Slack: markup, mentions and line breaks are escaped', async t => {
  const { json } = await sent('slack', { url: 'https://hooks.slack.example/T/B/x' }, evilMessage())
  const text = JSON.stringify(json)
  t.notMatch(text, /<!channel>|<script|@everyone/)
  t.match(json, { attachments: [{ color: '#c62828', title_link: 'https://barograph.example/alerts?rule=3' }] })
  const alerts = Array.from({ length: 20 }, () => messageAlert({ device: 'x'.repeat(64), location: 'y'.repeat(256) }))
  const long = (await sent('slack', { url: 'https://a.example/' }, alertMessage({ alerts }))).json
  const body: string = long.attachments[0].text
  t.ok(body.length <= 3000)
  t.equal(body.match(/<https/g)?.length, body.match(/[^;]>\n/g)?.length)
})

test('ntfy: published as JSON to the server, with priority and click address', async t => {
  const settings = { url: 'https://ntfy.example/base/cellar', token: 'tk_1' }
  const { posted, json } = await sent('ntfy', settings, evilMessage())
  t.match(posted, [{ url: 'https://ntfy.example/base', headers: { authorization: 'Bearer tk_1' } }])
  t.match(json, { topic: 'cellar', priority: 5, click: 'https://barograph.example/alerts?rule=3' })
  t.strictSame(Object.keys(posted[0]?.headers ?? {}), ['authorization'])
  const alerts = Array.from({ length: 20 }, () => messageAlert({ device: 'é'.repeat(64), location: 'ü'.repeat(256) }))
  const long = (await sent('ntfy', { url: 'https://ntfy.example/cellar' }, alertMessage({ alerts }))).json
  t.ok(Buffer.byteLength(long.message) <= 3600)
  t.ok(long.message.isWellFormed())
  t.match((await sent('ntfy', { url: 'https://ntfy.example/' }, alertMessage())).result, { outcome: 'failed' })
})

test('Apprise: plain text with the type of its severity, to the services of a key or of the setting', async t => {
  const url = 'https://apprise.example/notify/home'
  const { posted, json } = await sent('apprise', { url, tag: 'family' }, evilMessage())
  t.match(posted, [{ url, secrets: [url, ''] }])
  t.strictSame(Object.keys(json), ['title', 'body', 'type', 'format', 'tag'])
  t.match(json, { type: 'failure', format: 'text', tag: 'family', body: /alerts\?rule=3$/ })
  const urls = 'tgram://bot/chat'
  const over = await sent('apprise', { url, urls }, alertMessage({ type: 'alert.resolved' }))
  t.match(over.json, { title: /^Resolved: Freezer too warm/, type: 'success', urls })
  t.strictSame(over.posted[0]?.secrets, [url, urls])
  const answer = { ...delivered(1), status: 204 }
  t.match((await sent('apprise', { url }, alertMessage(), { answer })).result, { outcome: 'failed', status: 204 })
})

test('Alertmanager: an alert has constant labels, and an end from the time of the message', async t => {
  const settings = { url: 'https://am.example/base/', username: 'a', password: 'b' }
  const group = { tag: 'site', value: 'berlin' }
  const firing = await sent('alertmanager', settings, alertMessage({ group }))
  const encoded = btoa('a:b')
  const url = 'https://am.example/base/api/v2/alerts'
  t.match(firing.posted, [{ url, headers: { authorization: `Basic ${encoded}` } }])
  t.strictSame(firing.posted[0]?.secrets, [settings.url, 'b', encoded])
  const ofRule = { alertname: 'Freezer too warm', severity: 'critical', rule_id: '3' }
  const labels = { ...ofRule, device: 'cellar-1', metric: 'temperature', site: 'berlin' }
  t.strictSame(firing.json[0].labels, labels)
  const named = await sent('alertmanager', settings, alertMessage({ group: { tag: 'severity', value: 'x' } }))
  t.equal(named.json[0].labels.severity, 'critical')
  t.match(firing.json, [{ startsAt: '2026-05-01T10:00:00.000Z', endsAt: '2026-05-01T10:15:30.000Z' }])
  const resolved = messageAlert({ state: 'resolved', value: null, resolved_at: '2026-05-01T11:00:00.000Z' })
  const over = await sent('alertmanager', settings, alertMessage({ type: 'alert.resolved', group, alerts: [resolved] }))
  t.strictSame(over.json[0].labels, labels)
  t.match(over.json, [{ startsAt: '2026-05-01T10:00:00.000Z', endsAt: '2026-05-01T11:00:00.000Z' }])
  t.strictSame(kindOf('alertmanager'), { wantsAll: true, refreshMs: 300_000 })
  t.equal(kindOf('toString'), undefined)
})

test('MQTT: one message for all, or a retained one for each device', async t => {
  const message = alertMessage({ alerts: [messageAlert(), messageAlert({ id: '8', device: 'roof' })] })
  const all = await sent('mqtt', { topic: 'alerts/home', retain: false }, message)
  t.match(all.published, [{ topic: 'alerts/home', retain: false }])
  const ofAll = { id: 'msg_1', type: 'alert.firing', alerts: [{ id: '7' }, { id: '8' }] }
  t.match(JSON.parse(all.published[0]?.payload ?? ''), ofAll)
  const each = await sent('mqtt', { topic: 'alerts/home', retain: true }, message)
  t.match(each.published, [
    { topic: 'alerts/home/cellar-1', retain: true },
    { topic: 'alerts/home/roof', retain: true },
  ])
  t.match(JSON.parse(each.published[1]?.payload ?? ''), { alert: { id: '8', state: 'firing' } })
})
