/** A person's units and time zone in a browser: without an account, and in it. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { noPreferences, type Preferences } from '../../auth/accounts/preference-values.ts'
import { becomes, within } from '../support/becomes.ts'
import { desk, inBrowser, inspect } from '../support/browser-page.ts'
import { password } from '../support/people.ts'
import { sharedService } from '../support/service.ts'
import { madeDevices, openFleetServer } from './fleet-server.ts'
import { pageTests } from './page-tests.ts'
import { signInFor } from './sign-in-page.ts'

const { browser, onPhone } = await pageTests(t)

const openMenu = (page: Page) => page.getByRole('button', { name: 'Units', exact: true }).click()
const closeMenu = (page: Page) => page.getByRole('button', { name: 'Close', exact: true }).click()
const choose = (page: Page, label: string, option: string) =>
  page.getByLabel(label, { exact: true }).selectOption({ label: option })
const chosenIn = (page: Page, label: string) => page.getByLabel(label, { exact: true }).inputValue()
const cell = (page: Page, column: string) => page.locator(`table tbody tr td.${column}`).first()

onPhone('a choice changes the page at once and stays in the browser', async (page, t) => {
  const lastSeen = Date.UTC(2026, 0, 2, 22, 30)
  const values = { temperature: 20, humidity: 50, pressure: 1013.25 }
  const devices = madeDevices(1).map(device => ({ ...device, state: 'fresh' as const, last_seen: lastSeen, values }))
  const server = await openFleetServer(t, devices)
  await page.goto(server.url)
  await becomes(t, () => cell(page, 'temperature').innerText(), '20.0\u202f°C')
  await page.getByText('Times: Europe/Berlin').waitFor()
  await openMenu(page)
  await page.getByText('Kept in this browser.').waitFor()
  await choose(page, 'Temperature', '°F')
  await choose(page, 'Air pressure', 'inHg')
  await choose(page, 'Times', 'Asia/Tokyo')
  await inspect(t, page, 'the menu')
  await closeMenu(page)
  await becomes(t, () => cell(page, 'temperature').innerText(), '68.0\u202f°F')
  await becomes(t, () => cell(page, 'pressure').innerText(), '29.92\u202finHg')
  await becomes(t, () => cell(page, 'humidity').innerText(), '50\u202f%')
  await page.getByText('Times: Asia/Tokyo').waitFor()
  await becomes(t, () => page.locator('td.age time').getAttribute('title'), within('3 Jan 2026, 07:30:00'))
  server.send('reading', { device: devices[0]?.device ?? '', ts: lastSeen + 1000, values: { temperature: -40 } })
  await becomes(t, () => cell(page, 'temperature').innerText(), '−40.0\u202f°F', 'what comes by events, too')
  await page.reload()
  await becomes(t, () => cell(page, 'pressure').innerText(), '29.92\u202finHg', 'after a reload')
  await openMenu(page)
  await becomes(t, () => chosenIn(page, 'Times'), 'Asia/Tokyo')
  await choose(page, 'Temperature', 'As measured')
  await choose(page, 'Times', 'In the zone of the page')
  await closeMenu(page)
  await page.getByText('Times: Europe/Berlin').waitFor()
  await becomes(t, () => cell(page, 'temperature').innerText(), '20.0\u202f°C')
})

t.test('the account of a signed-in person keeps the choice for every browser', async t => {
  const service = await sharedService(t)
  const email = 'preferences-ada@example.com'
  await service.admin('POST', '/accounts', { email, name: 'Ada', role: 'user', password })
  const signIn = async (page: Page, kept: string) => {
    await signInFor(page, service.url, email, '/compare')
    await openMenu(page)
    await page.getByText(kept).waitFor()
  }
  await inBrowser(t, browser, desk, async page => {
    await page.goto(`${service.url}/compare`)
    await openMenu(page)
    await choose(page, 'Wind and other speeds', 'kn')
    await closeMenu(page)
    await signIn(page, 'Kept in this browser. Your account gets it with the next change here.')
    await becomes(t, () => preferencesOf(page), noPreferences, 'the account has nothing')
    await becomes(t, () => page.getByText('Kept in your account.').count(), 0)
    await becomes(t, () => chosenIn(page, 'Wind and other speeds'), '[kn_i]', 'what was chosen before stays')
    await choose(page, 'Temperature', '°F')
    await choose(page, 'Times', 'Asia/Tokyo')
    const chosen = { temperature_unit: '[degF]', speed_unit: '[kn_i]', time_zone: 'Asia/Tokyo' } as const
    await becomes(t, () => preferencesOf(page), { ...noPreferences, ...chosen })
    await page.getByText('Kept in your account.').waitFor()
  })
  await inBrowser(t, browser, desk, async page => {
    await signIn(page, 'Kept in your account.')
    await becomes(t, () => chosenIn(page, 'Temperature'), '[degF]', 'in another browser')
    await page.route('**/v1/auth/me/preferences', route => route.fulfill({ status: 503, json: { detail: 'away' } }))
    await choose(page, 'Temperature', '°C')
    await page.getByText('Your account does not have it yet').waitFor()
    await becomes(t, () => page.getByText('Kept in your account.').count(), 0)
    await page.unroute('**/v1/auth/me/preferences')
    await choose(page, 'Air pressure', 'mmHg')
    await page.getByText('Kept in your account.').waitFor()
    await becomes(t, () => page.getByText('Your account does not have it yet').count(), 0)
    await becomes(t, async () => (await preferencesOf(page)).temperature_unit, 'Cel', 'the choice before comes along')
  })
})

async function preferencesOf(page: Page) {
  const answer = "fetch('/v1/auth/me/preferences').then(answer => answer.json())"
  return (await page.evaluate(answer)) as Preferences
}
