/** Leaving by the link in a mail, as a person and as a mail program. */

import { fastify } from 'fastify'
import t from 'tap'
import { unsubscribeFamily } from '../../../api/alerts/unsubscribe.ts'
import type { Mail } from '../../../auth/mail/templates.ts'
import { addChannel, deliveryParts, openDelivery, queueNotification, service } from '../../support/alert-delivery.ts'
import { nowhere, silentLog, startDatabases } from '../../support/databases.ts'
import { waitFor } from '../../support/wait-for.ts'

const { store } = await startDatabases(t, nowhere)
const mails: Mail[] = []
const parts = deliveryParts(store.postgres, { send: async mail => void mails.push(mail) })
const delivery = openDelivery(t, parts)
const app = fastify()
app.register(async scope =>
  unsubscribeFamily({ unsubscribing: delivery.unsubscribing, log: silentLog }).register(scope),
)
t.teardown(() => app.close())

const to = 'ada+<b>@example.com'.replace('<b>', '')
const { id } = await addChannel(delivery, { name: 'mail', kind: 'email', enabled: true, settings: { to } })
const mailed = async () => {
  mails.length = 0
  await queueNotification(store.postgres, { channel: id, nowMs: parts.clock.nowMs })
  delivery.wake()
  await waitFor('the mail is sent', () => mails.length === 1)
  const [mail] = mails
  return String(mail?.headers?.['list-unsubscribe']).slice(1, -1)
}
const pathOf = (link: string) => link.replace('https://barograph.example', '')

t.test('the link asks, and its form ends the mails', async t => {
  const link = await mailed()
  t.match(link, /^https:\/\/barograph\.example\/alerts\/unsubscribe\?token=[\w-]{43}$/)
  const asked = await app.inject({ url: pathOf(link) })
  t.match(asked, { statusCode: 200, headers: { 'content-type': /html/, 'cache-control': 'no-store' } })
  t.match(asked.body, /ada\+@example\.com/)
  t.match(asked.body, /<form method="post" action="unsubscribe\?token=/)
  t.match(await delivery.channels.get(service, id), { enabled: true }, 'a look changes nothing')
  const waiting = await queueNotification(store.postgres, {
    channel: id,
    nowMs: parts.clock.nowMs,
    dueMs: parts.clock.nowMs + 1e9,
  })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const posted = await app.inject({
    method: 'POST',
    url: pathOf(link),
    headers: form,
    payload: 'List-Unsubscribe=One-Click',
  })
  t.match(posted, { statusCode: 200, body: /sends no more mails/ })
  t.match(await delivery.channels.get(service, id), { enabled: false, disabled_reason: 'unsubscribed' })
  const { rows } = await store.postgres.query('SELECT state FROM alert_notifications WHERE webhook_id = $1', [waiting])
  t.strictSame(rows, [{ state: 'cancelled' }])
  t.equal((await app.inject({ method: 'POST', url: pathOf(link) })).statusCode, 200, 'twice does no harm')
})

t.test('the token is not in the database, and no other one is good', async t => {
  await delivery.channels.change(service, id, { enabled: true }, 'a test')
  const link = await mailed()
  const token = link.slice(-43)
  for (const table of ['alert_channels', 'alert_unsubscribes', 'alert_notifications', 'alert_attempts', 'audit']) {
    t.notMatch(JSON.stringify((await store.postgres.query(`SELECT * FROM ${table}`)).rows), token, table)
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
  t.equal((await store.postgres.query('SELECT 1 FROM alert_unsubscribes')).rowCount, 0)
})
