/** The pages of alerts in a browser, beside made answers of the service. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { NewRule } from '../../alerts/core/rule.ts'
import { becomes, within } from '../support/becomes.ts'
import { inspect, textOf } from '../support/browser-page.ts'
import { madeAlert, madePreview, openAlertsServer } from './alerts-server.ts'
import { pageTests } from './page-tests.ts'

const { onDesk, onPhone } = await pageTests(t)

const server = await openAlertsServer(t)
const { isSignedIn, isOperator, alerts, rules, channels, preview } = server
const initial = { isSignedIn, isOperator, alerts, rules, channels, preview }

t.afterEach(() => {
  Object.assign(server, initial)
  server.sent.length = 0
})

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click()
const said = (page: Page, text: string | RegExp) => page.locator('.banner').filter({ hasText: text }).waitFor()
const list = (page: Page, name: string) => page.getByRole('region', { name })
const [version, created_at] = [1, '2026-11-26T12:00:00.000Z']
const hot = NewRule.parse({
  name: 'Too hot',
  selector: { devices: ['sensor-00001'] },
  condition: { kind: 'above', metric: 'temperature', value: 30, hysteresis: 1 },
  for_seconds: 600,
  severity: 'critical',
  channels: [1],
})
const rule = { ...hot, id: 1, owner: 1, version, created_at }
const mail = { name: 'Mail', kind: 'email', settings: { to: 'ada@example.com' }, target: 'ada@example.com' } as const
const working = { enabled: true, disabled_reason: null, notice: null, failing_since: null }
const channel = { ...mail, ...working, id: 1, owner: 1, version, created_at }

onPhone('firing alerts are listed with their state, by device and by severity', async (page, t) => {
  const noValue = { metric: null, value: null }
  server.alerts = [
    madeAlert(),
    madeAlert({ id: '2', device: 'sensor-00002', severity: 'info', flapping: true, silenced_by: 4, ...noValue }),
    madeAlert({ id: '3', device: null, rule: 'Site down', severity: 'warning', ...noValue }),
    madeAlert({ id: '4', state: 'resolved', resolved_at: new Date().toISOString(), resolved_reason: 'rule_changed' }),
  ]
  await page.goto(`${server.url}/alerts`)
  const firing = list(page, 'Firing')
  await becomes(t, () => firing.locator('li').count(), 3)
  const hot = /critical[\s\S]*sensor-00001[\s\S]*31\.4 °C[\s\S]*1 h ago[\s\S]*Open the window/
  await becomes(t, () => textOf(firing.locator('li').first()), hot)
  await becomes(t, () => textOf(firing.locator('li').nth(1)), /info, flapping[\s\S]*silenced: no notifications/)
  await becomes(t, () => textOf(list(page, 'Resolved')), /resolved \(critical\)[\s\S]*its rule was changed/)
  await becomes(t, () => page.title(), '3 firing – Alerts – Barograph')
  await becomes(t, () => page.locator('#icon').getAttribute('href'), within(encodeURIComponent('>3</text>')))
  await becomes(t, () => page.locator('nav.pages .count').innerText(), /^3/)
  await inspect(t, page, 'alerts')
  await press(page, 'Silence for 1 hour Site down')
  await said(page, 'Site down is silenced until')
  t.match(server.sent, [['POST', '/api/silences', { selector: { all: true }, rule_id: 1 }]])
  const moment = firing.locator('time').first()
  await becomes(t, () => moment.getAttribute('datetime'), /^\d{4}-\d\d-\d\dT.*Z$/, 'a time for programs')
  await becomes(t, () => moment.getAttribute('title'), /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d /, 'to the second')
  await page.getByLabel('By device').check()
  await firing.getByRole('heading', { name: 'Not of a single device' }).waitFor()
  await page.getByLabel('Severity').selectOption('info')
  await becomes(t, () => firing.locator('.records > li').count(), 1)
})

onDesk('an alert appears at once, by rule and in the rows of the fleet', async (page, t) => {
  await page.goto(`${server.url}/alerts`)
  await page.getByText('No firing alerts.').waitFor()
  const info = madeAlert({ severity: 'info' })
  server.alerts = [info]
  server.tell(info)
  const fires = list(page, 'Firing').locator('.records > li')
  await becomes(t, () => fires.count(), 1)
  await becomes(t, () => page.title(), '1 firing – Alerts – Barograph')
  server.alerts = [info, madeAlert({ id: '2', rule_id: 2, rule: 'Battery', severity: 'warning' })]
  await page.goto(`${server.url}/alerts?rule=2`)
  await page.getByText('Of Battery alone.').waitFor()
  await becomes(t, () => fires.count(), 1)
  await page.getByRole('link', { name: 'All alerts' }).click()
  await becomes(t, () => fires.count(), 2)
  server.rules = [rule]
  await page.goto(server.url)
  const row = page.locator('tr', { has: page.getByRole('link', { name: 'sensor-00001', exact: true }) })
  await becomes(t, () => row.locator('.firing').getAttribute('title'), 'Too hot, Battery')
  await becomes(t, () => row.locator('.firing').getAttribute('class'), /warning/)
  await becomes(t, () => page.locator('.firing').count(), 1)
  await becomes(t, () => page.title(), '2 firing, 1 silent – Fleet – Barograph')
})

const places = ['', '/rules', '/channels', '/silences', '/deliveries', '/rules/new']

onPhone('a person without a session sees a link to sign in without alerts', async (page, t) => {
  server.isSignedIn = false
  server.alerts = [madeAlert()]
  for (const place of places) {
    await page.goto(`${server.url}/alerts${place}`)
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).first().waitFor()
    await becomes(t, () => page.getByText('Too hot').count(), 0, place)
    await becomes(t, () => page.locator('nav.pages .count').count(), 0)
  }
  await inspect(t, page, 'without a session')
  await page.goto(server.url)
  await page.locator('table tbody tr').first().waitFor()
  await becomes(t, () => page.locator('.firing').count(), 0)
  await becomes(t, () => page.title(), '1 silent – Fleet – Barograph')
})

onPhone('the first rule is set up in three clicks, with a mail to oneself', async (page, t) => {
  await page.goto(server.url)
  await page.getByRole('link', { name: 'Notify me when a device goes silent' }).click()
  await page.waitForURL(`${server.url}/alerts/rules/new?preset=silent`)
  const mail = page.getByLabel('A mail to ada@example.com')
  await becomes(t, () => mail.isChecked(), true)
  const condition = '“No reading for longer than usual” on all devices'
  await page.getByText(`${condition} sends a warning to ada@example.com.`).waitFor()
  await mail.uncheck()
  await page.getByText(`${condition} shows a warning on the pages only.`).waitFor()
  await page.getByText('No enabled channel is chosen.').waitFor()
  await inspect(t, page, 'a rule without a channel, phone')
  await mail.check()
  await press(page, 'Add the rule')
  await page.waitForURL(`${server.url}/alerts/rules`)
  t.match(
    server.sent.filter(([, path]) => path !== '/api/alert-rules/preview'),
    [
      ['POST', '/api/alert-channels', { kind: 'email', settings: { to: 'ada@example.com' } }],
      ['POST', '/api/alert-rules', { condition: { kind: 'silent' }, selector: { all: true }, channels: [5] }],
    ],
  )
})

onDesk('only the operator has rules of the service, whose preview follows changes', async (page, t) => {
  const service = 'The service itself has a problem'
  const offered = () => page.getByLabel('When').locator('option').allInnerTexts()
  await page.goto(`${server.url}/alerts/rules/new`)
  await becomes(t, async () => (await offered()).at(-1), service)
  server.isOperator = false
  const asked = page.waitForResponse(`${server.url}/api/admin/accounts/1`)
  await page.reload()
  await asked
  await becomes(t, async () => (await offered()).at(-1), 'Many devices are silent at once')
  server.rules = [{ ...rule, selector: null, condition: { kind: 'service', fact: 'dead_letters' } }]
  await page.goto(`${server.url}/alerts/rules/1`)
  await becomes(t, async () => (await offered()).at(-1), service, 'to who has one')
  await becomes(t, () => page.getByLabel('When').inputValue(), 'service')

  server.rules = [rule]
  server.channels = [{ ...channel, notice: 'the address of the account is not confirmed' }]
  server.preview = madePreview()
  await page.goto(`${server.url}/alerts/rules`)
  const record = /Too hot[\s\S]*Temperature above 30\.0 °C for 10 minutes · sensor-00001 · 1 channel/
  await becomes(t, () => textOf(page.locator('.records > li')), record)
  server.sent.length = 0
  await page.getByRole('link', { name: 'Too hot' }).click()
  await page.getByText('It would have fired 31 times on 2 devices, for 5 hours at the longest.').waitFor()
  await page.getByRole('application', { name: 'Preview of the rule on sensor-00001' }).waitFor()
  await page.getByText('email, ada@example.com, the address of the account is not confirmed').waitFor()
  await becomes(t, () => textOf(page.locator('.preview table')), /2026-W47\s+12\s+7\s+3/)
  await becomes(t, () => page.getByLabel('Limit').inputValue(), '30')
  await page.getByText('“Temperature above 30.0 °C for 10 minutes” on sensor-00001 sends a').waitFor()
  await inspect(t, page, 'a rule')
  await page.getByLabel('Limit').fill('28.5')
  await page.getByLabel('Drawn for').selectOption('sensor-00002')
  await page.getByRole('application', { name: 'Preview of the rule on sensor-00002' }).waitFor()
  const previews = async () => server.sent.filter(([, path]) => path.endsWith('preview')).length
  await becomes(t, previews, 2, 'once for a change')
  t.match(server.sent.at(-1)?.[2], { rule: { condition: { value: 28.5, hysteresis: 1 } } })
  await press(page, 'Save')
  await page.waitForURL(`${server.url}/alerts/rules`)
  const body = { condition: { kind: 'above', value: 28.5 }, channels: [1] }
  t.match(server.sent.at(-1), ['PATCH', '/api/alert-rules/1', body])
  await page.goto(`${server.url}/alerts`)
  const notice = page.locator('p.soft', { hasText: 'Notifications to Mail' })
  await becomes(t, () => textOf(notice), /^Notifications to Mail: the address of the account is not confirmed\.$/)
  server.channels = []
  await page.goto(`${server.url}/alerts/rules/1`)
  const mail = page.getByLabel('A mail to ada@example.com')
  await becomes(t, () => mail.isChecked(), false, 'a rule that is there gets no channel by itself')
})

onPhone('a phone: channels are added, tested and changed, deliveries listed, and silences made', async (page, t) => {
  const gone = {
    kind: 'webhook',
    target: 'example.com',
    settings: {},
    enabled: false,
    disabled_reason: 'gone',
  } as const
  server.channels = [
    channel,
    { ...channel, id: 3, name: 'File', notice: 'written to a file: no mail server (SMTP_URL)' },
    { ...channel, id: 2, name: 'Hook', ...gone },
  ]
  const records = () => textOf(page.locator('.records'))
  await page.goto(`${server.url}/alerts/channels`)
  await becomes(t, records, /Webhook · example.com · off: its address has answered that it is gone/)
  await becomes(t, records, /File[\s\S]*E-mail · ada@example.com · written to a file: no mail server \(SMTP_URL\)/)
  await press(page, 'Send a test Mail')
  await said(page, 'The test of Mail is not delivered: status 500.')
  await press(page, 'Send a test File')
  await said(page, 'The test of File is written to a file: no mail server (SMTP_URL).')
  await press(page, 'Add a channel')
  await page.getByLabel('Kind').selectOption('Webhook')
  await page.getByLabel('Name').fill('Pager')
  await page.getByLabel('Address').fill('https://example.com/hook')
  await inspect(t, page, 'channels, a new one')
  await press(page, /^Add$/)
  await said(page, 'Pager is added.')
  await becomes(t, () => page.locator('pre[data-name="Secret"]').innerText(), /^whsec_/)
  const pager = { name: 'Pager', kind: 'webhook', settings: { url: 'https://example.com/hook' } }
  t.match(server.sent.at(-1), ['POST', '/api/alert-channels', pager])
  await press(page, 'Edit Hook')
  await page.getByRole('form', { name: 'Edit Hook' }).waitFor()

  await page.goto(`${server.url}/alerts/deliveries`)
  await becomes(t, records, /Too hot fires[\s\S]*to Mail · waiting · 2 attempts · next/)
  await press(page, /^Attempts/)
  await becomes(t, () => page.locator('.history pre').innerText(), '<b>Internal</b> Server Error')
  await inspect(t, page, 'deliveries')
  server.deliveries = server.deliveries.map(one => ({ ...one, state: 'delivered', written: true, attempts: 1 }))
  await page.reload()
  await becomes(t, records, /to Mail · written to a file: no mail server · 1 attempt/)

  await page.goto(`${server.url}/alerts/silences`)
  await press(page, 'New silence')
  await page.getByLabel('Devices').selectOption('Devices with tags')
  await page.getByLabel('Tags').fill('site:berlin, room:*')
  await page.getByLabel('For', { exact: true }).selectOption('each week')
  await page.getByLabel('From').fill('22:00')
  await page.getByLabel('Until').fill('06:00')
  await inspect(t, page, 'silences, a new one')
  await press(page, /^Add$/)
  await said(page, 'devices with site:berlin and room:*: no notifications.')
  const weekly = [{ days: [6, 7], from: '22:00', until: '06:00' }]
  const silence = { selector: { tags: ['site:berlin', 'room:*'] }, until: null, weekly }
  t.match(server.sent.at(-1), ['POST', '/api/silences', silence])
  await page.goto(`${server.url}/alerts/rules`)
  await page.getByText('There are no rules here.').waitFor()
  await inspect(t, page, 'rules, phone')
})
