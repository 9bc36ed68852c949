/** The admin page in a browser, on the whole service: actions of administrators, and their absence for others. */

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import t from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { becomes, within } from '../support/becomes.ts'
import { desk, inBrowser, inspect, textOf } from '../support/browser-page.ts'
import { signIn as cookieOf, makeKey, makePerson, password } from '../support/people.ts'
import { startService, withoutQuestdb } from '../support/service.ts'
import { fill, pageTests } from './page-tests.ts'
import { submitSignIn, useSession } from './sign-in-page.ts'

const run = promisify(execFile)
const markup = '<img src=x onerror=alert(1)> & "Küche"'

const mqttPort = String(await freePort())
const service = await startService(t, { environment: { ...withoutQuestdb, MQTT_PORT: mqttPort } })
const { url } = service
for (const [name, role] of Object.entries({ ada: 'administrator', eve: 'user' })) {
  await service.admin('POST', '/accounts', { email: `${name}@example.com`, name, role, password })
}
await service.addDevice(markup, { location_short: '<b>bold</b>' })
await service.addDevice('attic')
await service.addDevice('attic-2')
const { browser, onDesk, onPhone } = await pageTests(t)

const cookies = { ada: await cookieOf(url, 'ada@example.com'), eve: await cookieOf(url, 'eve@example.com') }

async function open(page: Page, name: keyof typeof cookies, path = '/admin'): Promise<void> {
  await useSession(page, url, cookies[name])
  await page.goto(`${url}${path}`)
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const shownText = (page: Page, name: string) => page.locator(`pre[data-name="${name}"]`).innerText()
/** Presses a button that asks, and types the name. */
async function confirm(page: Page, verb: string, name: string, meanwhile = async () => {}): Promise<void> {
  await press(page, `${verb} ${name}`)
  const dialog = page.getByRole('dialog')
  await becomes(t, () => dialog.getByRole('button', { name: verb, exact: true }).isDisabled(), true)
  await meanwhile()
  await dialog.getByRole('textbox').fill(name)
  await dialog.getByRole('button', { name: verb, exact: true }).click()
}
/** A device in the table. */
const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
/** Presses an action of a row's menu. */
async function act(page: Page, action: string, name: string): Promise<void> {
  await press(page, `Actions of ${name}`)
  await press(page, `${action} ${name}`)
}
const record = (page: Page, name: string) => page.locator('.records > li').filter({ hasText: name })
const said = (page: Page, text: string | RegExp) => page.locator('.banner').filter({ hasText: text }).waitFor()

onDesk('a new device sends by the shown programs and appears in the list', async (page, t) => {
  await page.goto(`${url}/admin`)
  await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
  await submitSignIn(page, 'ada@example.com')
  await page.waitForURL(`${url}/admin`)
  await becomes(t, () => row(page, 'attic-2').innerText(), /attic-2\s+unknown\s+never/)
  await becomes(t, () => row(page, markup).innerText(), within('<b>bold</b>'), 'markup is text')
  await press(page, 'Add a device')
  await fill(page, { Name: "porch's", Place: 'Porch' })
  await page.getByLabel('Sends battery').check()
  await inspect(t, page, 'devices, a new one')
  await page.keyboard.press('Enter')
  await said(page, "porch's is added.")
  const focused = () => page.evaluate('document.activeElement.textContent')
  await becomes(t, focused, "Password of porch's", 'a reader goes on there')
  await inspect(t, page, 'devices, a password')
  const runs = async (program: string, flag: string, name: string, more = '') =>
    (await run(program, [flag, (await shownText(page, name)).trim() + more])).stdout
  await page.getByText('The next reading appears here when it arrives.').waitFor()
  t.match(await runs('sh', '-c', 'A reading by curl'), '{"status":"success"}')
  await page
    .getByRole('status')
    .filter({ hasText: /^A reading of .* has arrived\. Open the page$/ })
    .waitFor()
  t.equal(await runs('sh', '-c', 'By InfluxDB line protocol', " -s -w '%{http_code}'"), '204')
  t.match(await runs('python3', '-c', 'By Python'), '{"status":"success"}')
  const mqtt = new RegExp(`^mosquitto_pub .* -p ${mqttPort} .*-t 'readings/porch'\\\\''s'`)
  await becomes(t, () => shownText(page, 'By MQTT'), mqtt)
  await becomes(t, () => shownText(page, 'By MicroPython'), within(await shownText(page, 'Password')))
  await press(page, 'I have it')
  await becomes(t, () => page.locator('pre').count(), 0, 'and is not shown again')
  await page.reload()
  await becomes(t, () => row(page, "porch's").innerText(), /Porch\s+\d/)
  const moment = row(page, "porch's").locator('time')
  await becomes(t, () => moment.getAttribute('datetime'), /^\d{4}-\d\d-\d\dT.*Z$/, 'a time for programs')
})

onDesk('a device is changed, suspended, given a new password and removed by its name', async (page, t) => {
  await page.addInitScript("Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })")
  await open(page, 'ada')
  await page.getByRole('button', { name: 'Actions of attic', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await inspect(t, page, 'devices, a menu')
  await page.keyboard.press('Enter')
  await page.getByLabel('Seconds between readings').fill('0.5')
  await press(page, 'Save')
  await said(page, /invalid body.*expected_interval_seconds/)
  await page.getByLabel('Seconds between readings').fill('60')
  const tags = 'site:berlin; room:Server room'
  await page.getByText('More', { exact: true }).click()
  await fill(page, { Place: 'Under the roof', Tags: tags, Metrics: 'humidity, temperature' })
  await press(page, 'Save')
  await said(page, 'attic is changed.')
  await act(page, 'Suspend', 'attic')
  await said(page, 'attic is suspended.')
  await becomes(t, () => row(page, 'attic').innerText(), /off\s+Under the roof\s+room:Server room\s+site:berlin/)
  await act(page, 'Edit', 'attic')
  await becomes(
    t,
    () => page.getByRole('textbox', { name: 'Tags', exact: true }).inputValue(),
    'room:Server room, site:berlin',
  )
  await becomes(t, () => page.getByLabel('Metrics', { exact: true }).inputValue(), 'humidity, temperature')
  await press(page, 'Cancel')
  await act(page, 'New password', 'attic')
  await said(page, 'attic has a new password.')
  const rotated = (await shownText(page, 'Password')).trim()
  await press(page, 'Copy Password')
  await page.getByRole('button', { name: 'Selected: press Ctrl+C' }).waitFor()
  const selected = () => page.evaluate('getSelection().toString().trim()')
  await becomes(t, selected, rotated, 'without a clipboard a button selects what is shown once')
  t.equal((await service.put('attic', rotated, {})).status, 400, 'it is good')
  await act(page, 'Remove', 'attic')
  const remove = page.getByRole('dialog').getByRole('button', { name: 'Remove' })
  await becomes(t, () => remove.isDisabled(), true, 'until the name is typed')
  await inspect(t, page, 'devices, a removal')
  await page.getByLabel('Type attic to confirm').fill('attic')
  await page.keyboard.press('Enter')
  await said(page, 'attic is removed.')
  await page.getByRole('link', { name: 'attic', exact: true }).waitFor({ state: 'detached' })
  t.equal((await service.put('attic', rotated, {})).status, 401)
  await page.goto(`${url}/account`)
  await page.getByLabel('Name', { exact: true }).first().fill('copied')
  await press(page, 'Generate New Token')
  await press(page, 'Copy')
  const key = (await page.locator('#new-key').innerText()).trim()
  await becomes(t, selected, key, 'also on the page of an account')
})

onDesk('a list of devices is added as a whole and found by a search in the address', async (page, t) => {
  await open(page, 'ada')
  await press(page, 'Add a list')
  const list = page.getByLabel('Devices as CSV')
  await list.fill('name,place\na,b')
  await press(page, 'Add all')
  await said(page, 'The column “place” is not known')
  await list.fill(`name,location_short\n${Array.from({ length: 120 }, (_, i) => `field-${i},Acre ${i}`).join('\n')}`)
  await press(page, 'Add all')
  await said(page, '120 devices are added.')
  const csv = await shownText(page, 'Names and passwords, as CSV')
  t.equal(csv.trim().split('\n').length, 121)
  await page.getByRole('button', { name: 'Next page' }).click()
  await page.waitForURL(`${url}/admin?page=2`)
  await row(page, "porch's").waitFor()
  await page.getByLabel('Search devices').fill('acre 77')
  await page.waitForURL(`${url}/admin?q=acre+77`)
  await row(page, 'field-77').waitFor()
  await page.getByText('1 device.').waitFor()
  await page.getByLabel('Search devices').fill('acre 10')
  await page.getByText('11 devices.').waitFor()
  await press(page, 'Place')
  await press(page, 'Place')
  await page.waitForURL(`${url}/admin?q=acre+10&sort=-place`)
  const first = page.locator('tbody tr').first()
  await becomes(t, () => first.innerText(), /field-109\s+unknown\s+Acre 109/)
  await page.getByLabel('Select field-109').check()
  await page.getByLabel('Select all on this page').check()
  await page.getByText('11 selected.').waitFor()
  await page.getByLabel('Select field-10', { exact: true }).uncheck()
  await inspect(t, page, 'devices, selected')
  await press(page, 'Tag')
  await page.getByRole('dialog').getByLabel('Tag').fill('site:field')
  await page.getByRole('dialog').getByRole('button', { name: 'Tag', exact: true }).click()
  await page.getByText('10 devices tagged.').waitFor()
  await becomes(t, () => page.locator('tbody').getByText('site:field').count(), 10)
})

onDesk('a device that sends and is not registered is added by a button', async (page, t) => {
  const body = JSON.stringify({ temperature: 21, humidity: 50 })
  const { cookie } = await makePerson(service)
  const key = await makeKey(url, cookie, ['ingest'])
  const send = () => fetch(`${url}/in/thingsboard/${key}?device=well`, { method: 'POST', body })
  t.equal((await send()).status, 404)
  await open(page, 'ada', '/admin/unknown-devices')
  await becomes(
    t,
    () => record(page, 'well').innerText(),
    /thingsboard by webhook · key \d+ of account \d+ · temperature, humidity · last seen .* · 1 message/,
  )
  await inspect(t, page, 'unknown devices')
  await press(page, 'Add well')
  await said(page, 'well is added.')
  await becomes(t, () => shownText(page, 'Password'), /[0-9a-f]{64}/)
  await page.getByText('There are no unknown devices here.').waitFor()
  t.equal((await send()).status, 200, 'the owner of the key owns it')
})

const sections: [path: string, name: string, text: string | RegExp][] = [
  ['unknown-devices', 'Unknown devices', 'There are no unknown devices here.'],
  ['status', 'Status', 'Journal'],
  ['accounts', 'Accounts', 'eve@example.com'],
  ['invitations', 'Invitations', 'There are no open invitations here.'],
  ['keys', 'API keys', 'copied'],
  ['stations', 'Stations', 'There are no stations here.'],
  ['decoders', 'Decoders', 'There are no decoders here.'],
  ['tenants', 'Tenants', 'There are no tenants here.'],
  ['metrics', 'Metrics', '5 metrics.'],
  ['rejections', 'Rejections', 'rejected since'],
  ['dead-letters', 'Dead letters', 'There are no dead letters here.'],
  ['audit', 'Audit', /^ada changed the device field-\d+\.$/],
]

onPhone('every section is there, also on a phone', async (page, t) => {
  await open(page, 'ada')
  await row(page, 'field-1').waitFor()
  for (const [path, name, text] of sections) {
    await page.getByRole('link', { name, exact: true }).click()
    await page.waitForURL(`${url}/admin/${path}`)
    await page.getByRole('main').getByText(text).first().waitFor()
    await inspect(t, page, `${name}, phone`)
  }
})

onPhone('the navigation has the account and the sign-out on every page', async (page, t) => {
  const links = "[...document.querySelectorAll('nav.pages a')].map(link => link.href)"
  const names = ['', 'charts', 'compare', 'alerts', 'admin', 'account', 'docs'].map(name => `${url}/${name}`)
  const pages = {
    '/admin/keys': 'Admin',
    '/device': 'Account',
    '/docs/statistics': 'Docs',
    '/no/such/page': undefined,
    '/api/v1/contentfiles/?format=api': undefined,
    '/': 'Fleet',
  }
  // This session ends, so it must not be the other tests'.
  await page.goto(`${url}/sign-in`)
  await submitSignIn(page, 'ada@example.com')
  await page.waitForURL(`${url}/account`)
  for (const [path, current] of Object.entries(pages)) {
    await page.goto(`${url}${path}`)
    await becomes(t, () => page.evaluate(links), names, path)
    const shown = page.locator('nav.pages [aria-current=page]')
    await becomes(t, () => shown.allInnerTexts(), current === undefined ? [] : [current], path)
    await becomes(t, () => page.locator('.visitor').innerText(), /^ada\s+administrator$/, path)
  }
  await press(page, 'Sign out')
  await page.waitForURL(`${url}/sign-in?done=signed-out`)
  await page.goto(`${url}/compare`)
  const back = page.getByRole('banner').getByRole('link', { name: 'Sign in' })
  await becomes(t, () => back.getAttribute('href'), '/sign-in?callbackUrl=%2Fcompare')
  const open = ['', 'charts', 'compare', 'docs'].map(name => `${url}/${name}`)
  await becomes(t, () => page.evaluate(links), open, 'a visitor without a session')
})

onDesk('a decoder is written from recent messages, tried during typing, and edited', async (page, t) => {
  const { cookie } = await makePerson(service)
  const secret = await makeKey(url, cookie, ['ingest'])
  const send = (body: object) =>
    fetch(`${url}/in/garden/${secret}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  await send({ box: 'attic-2', t: 50, token: 'secret' })
  await open(page, 'ada', '/admin/decoders')
  await page.getByText('There are no decoders here.').waitFor()
  await press(page, 'Add a decoder')
  await page.getByLabel('Recent messages', { exact: true }).selectOption({ label: 'garden (webhook, 1)' })
  await page.getByLabel('Device', { exact: true }).fill('{/box}')
  const results = page.getByRole('region', { name: 'Recent messages, decoded' })
  await becomes(t, () => results.locator('tbody').innerText(), /attic-2\s.*\st\s50/)
  await becomes(t, () => page.getByLabel('Latest message').innerText(), within('"token": "***"'))
  await press(page, 'Add a rule')
  await fill(page, { Field: 't', Metric: 'temperature', Unit: 'hPa' })
  await becomes(t, () => page.locator('.rule .error').allInnerTexts(), [
    '',
    '',
    'temperature: the unit "hPa" cannot be converted to °C',
  ])
  await inspect(t, page, 'decoders, a new one')
  await page.getByLabel('Unit', { exact: true }).fill('°F')
  await becomes(t, () => results.locator('tbody').innerText(), /attic-2\s.*\stemperature\s10/)
  await press(page, 'Add')
  await said(page, 'garden is added.')
  t.equal((await send({ box: 'attic-2', t: 51 })).status, 403, 'it is decoded, and its device has another owner')
  await press(page, 'Edit garden')
  await page.getByLabel('Device', { exact: true }).fill('{box}')
  await becomes(t, () => page.locator('.fields .error').allInnerTexts(), within('{box} is not a level'))
  await page.getByLabel('Device', { exact: true }).fill('attic-2')
  await press(page, 'Save')
  await said(page, 'garden is changed.')
  await confirm(page, 'Remove', 'garden')
  await said(page, 'garden is removed.')
  t.equal((await send({ box: 'attic-2', t: 52 })).status, 404)
})

onDesk('stations, tenants and accounts are added and changed', async (page, t) => {
  await open(page, 'ada', '/admin/stations')
  await press(page, 'Add a station')
  await fill(page, { 'Serial number': 'DEL-9', Model: 'Mark 1' })
  await press(page, 'Add')
  await said(page, 'DEL-9 is added.')
  await press(page, 'Make private DEL-9')
  await record(page, 'Mark 1 · private').waitFor()
  await becomes(t, () => page.getByRole('button', { name: 'Remove DEL-9' }).count(), 0, 'an administrator may not')
  await page.getByRole('link', { name: 'DEL-9' }).click()
  await becomes(t, () => textOf(page.locator('.device-head')), 'DEL-9', 'its page, for an administrator')
  await becomes(t, () => textOf(page.locator('.station-facts')), /its owner and administrators/)
  await page.goBack()
  await page.getByRole('link', { name: 'Tenants' }).click()
  await press(page, 'Add a tenant')
  await fill(page, { 'Short name': 'acme', Name: 'Acme' })
  await press(page, 'Add')
  await said(page, 'acme is added.')
  await becomes(t, () => shownText(page, 'Secret'), /.{21}/)
  await press(page, 'Disable acme')
  await record(page, 'Acme · disabled').waitFor()
  await page.getByRole('link', { name: 'Accounts' }).click()
  await press(page, 'Confirm the address eve@example.com')
  await said(page, 'The address eve@example.com is confirmed.')
  const role = (email: string) => page.getByLabel(`Role of ${email}`, { exact: true })
  const setRole = async (email: string, to: string) => {
    await role(email).selectOption(to)
    const dialog = page.getByRole('dialog')
    await becomes(t, () => dialog.getByRole('button', { name: 'Change role' }).isDisabled(), true, 'until it is typed')
    await dialog.getByRole('textbox').fill(email)
    await dialog.getByRole('button', { name: 'Change role' }).click()
  }
  await role('eve@example.com').selectOption('Administrator')
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await becomes(t, () => role('eve@example.com').inputValue(), 'user', 'a choice alone changes nothing')
  /** The list is read again after the message, and a choice of the shown role changes nothing. */
  const becameRole = async (text: string, value: string) => {
    await said(page, `eve@example.com is now ${text}.`)
    await becomes(t, () => role('eve@example.com').inputValue(), value)
  }
  await setRole('eve@example.com', 'Administrator')
  await becameRole('an administrator', 'administrator')
  await setRole('eve@example.com', 'User')
  await becameRole('a user', 'user')
  await role('eve@example.com').selectOption('Viewer')
  await becameRole('a viewer', 'viewer')
  await role('eve@example.com').selectOption('User')
  await becameRole('a user', 'user')
  await setRole('ada@example.com', 'User')
  await said(page, 'you cannot change your own role')
  await inspect(t, page, 'accounts')
  await confirm(page, 'Disable', 'eve@example.com')
  await record(page, 'eve · disabled').waitFor()
  await press(page, 'Enable eve@example.com')
  await said(page, 'eve@example.com is enabled.')
})

onDesk('the operator removes a station', async page => {
  const [, query = ''] = /"setupUrl":"[^"]*\/setup(\?[^"]*)"/.exec(service.output()) ?? []
  await page.goto(`${url}/setup${query}`)
  await fill(page, { 'E-mail address': 'op@example.com', Password: password })
  await press(page, 'Create the account')
  await page.waitForURL(`${url}/account?done=signed-up`)
  await page.goto(`${url}/admin/stations`)
  await confirm(page, 'Remove', 'DEL-9')
  await said(page, 'DEL-9 is removed.')
  await record(page, 'DEL-9').waitFor({ state: 'detached' })
})

onDesk('people are invited beside the accounts, with invitations revoked', async (page, t) => {
  await open(page, 'ada', '/admin/accounts')
  await press(page, 'Help: roles')
  await page.getByText('Everybody who reaches the address can read all devices').waitFor()
  await page.keyboard.press('Escape')
  const invite = async (email: string, choose: () => Promise<void>) => {
    await press(page, 'Invite a person')
    await page.getByLabel('E-mail address').fill(email)
    await choose()
    await press(page, 'Invite')
    await said(page, `${email} is invited.`)
  }
  await invite('new@example.com', async () => {
    await page.getByLabel('Role', { exact: true }).selectOption('Viewer')
    await becomes(t, () => page.getByLabel('Send a mail').isChecked(), true)
  })
  const link = await shownText(page, 'Link')
  t.match(link, /\/sign-up\?token=[\w-]{43}$/)
  await page.getByRole('link', { name: 'Invitations', exact: true }).click()
  await record(page, 'user · viewer · by account').waitFor()
  await inBrowser(t, browser, desk, async other => {
    await other.goto(link)
    await becomes(t, () => other.getByLabel('E-mail address').inputValue(), 'new@example.com')
    await other.getByLabel('Password').fill(password)
    await other.getByRole('button', { name: 'Sign up' }).click()
    await other.waitForURL(`${url}/account?done=signed-up`)
  })
  await page.reload()
  await page.getByText('There are no open invitations here.').waitFor()
  await invite('never@example.com', () => page.getByLabel('Send a mail').uncheck())
  await press(page, 'Revoke never@example.com')
  await said(page, 'The invitation of never@example.com is revoked.')
  await becomes(t, () => record(page, 'never@example.com').count(), 0)
})

onDesk('rejected readings have a write path, device, sender and reason', async (page, t) => {
  const send = await service.addDevice('shed')
  const hot = { device: 'shed', temperature: 200 }
  for (let times = 0; times < 2; times++) t.equal((await service.put('shed', send, hot)).status, 400)
  await service.postImport(
    'timestamp,device,temperature,humidity,pressure\n2026-01-01T00:00:00Z,<img src=x>,1,2,1000\n',
  )
  await open(page, 'ada', '/admin/rejections')
  const first = page.locator('.records > li').first()
  await becomes(t, () => first.innerText(), /Import of readings · <img src=x>/, 'the newest is first')
  const shed = /temperature must be between -90 and 85\s+.*UTC · PUT · shed · by device shed · 2 times since/
  await becomes(t, () => record(page, 'by device shed').innerText(), shed)
  await page.getByLabel('Way').selectOption('PUT')
  await page.waitForURL(`${url}/admin/rejections?way=put`)
  await becomes(t, () => record(page, 'Import of readings').count(), 0)
})

onDesk('metrics are added by the catalogue, changed and removed', async (page, t) => {
  await open(page, 'ada', '/admin/metrics')
  await becomes(t, () => record(page, 'Temperature').innerText(), /temperature · °C · gauge · −90 to 85 · built in/)
  await becomes(t, () => page.getByRole('button', { name: 'Remove temperature' }).count(), 0)
  await press(page, 'Add a metric')
  await page.getByLabel('Name', { exact: true }).fill('CO2')
  await press(page, 'Add')
  await said(page, /invalid body.*name must be 1 to 48/)
  await page.getByLabel('Name', { exact: true }).fill('co2')
  await press(page, 'Add')
  await said(page, 'co2 is added.')
  await becomes(t, () => record(page, 'CO₂').innerText(), /co2 · ppm · gauge · 0 to 100,000/)
  await press(page, 'Edit temperature')
  await page.getByRole('form', { name: 'Edit temperature' }).waitFor()
  await becomes(t, () => page.getByLabel('Unit', { exact: true }).count(), 0, 'it is built in')
  await press(page, 'Cancel')
  await press(page, 'Edit co2')
  await page.getByLabel('Kind').selectOption('Counter')
  await fill(page, { Unit: '°F', 'Largest value': '' })
  await inspect(t, page, 'metrics, a change')
  await press(page, 'Save')
  await said(page, 'co2 is changed.')
  await becomes(t, () => record(page, 'CO₂').innerText(), /co2 · °F · counter · from 0/)
  await page.getByLabel('Search metrics').fill('CO₂')
  await confirm(page, 'Remove', 'co2')
  await said(page, 'co2 is removed.')
  await page.getByText('There are no metrics here.').waitFor()
})

onDesk('only administrators see data, others a reason', async (page, t) => {
  // A change of role has ended the sessions from before.
  cookies.eve = await cookieOf(url, 'eve@example.com')
  await open(page, 'eve')
  await page.getByText('Your account has no permission to see this page.').waitFor()
  await becomes(t, () => page.locator('.records').count(), 0)
  await becomes(t, () => page.getByRole('button', { name: 'Add a device' }).count(), 0)
})
