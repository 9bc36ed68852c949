/** Alerts in a browser, on the whole service: a rule is added on the page, fires by a reading and ends by one. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { buildWeb } from '../../web/build.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, inspect, phone, textOf } from '../support/browser-page.ts'
import { password } from '../support/people.ts'
import { startService } from '../support/service.ts'
import { signInFor } from '../support/sign-in-page.ts'
import { waitFor } from '../support/wait-for.ts'

await buildWeb()
const service = await startService(t)
const { url } = service
for (const name of ['ada', 'eve']) {
  const account = { email: `${name}@example.com`, name, role: name === 'ada' ? 'administrator' : 'user', password }
  await service.admin('POST', '/accounts', { ...account, email_verified: true })
}
const devicePassword = await service.addDevice('freezer', { location_short: 'Cellar' })
const browser = await openBrowser()
t.teardown(() => browser.close())

async function put(temperature: number): Promise<void> {
  const reading = { device: 'freezer', temperature, humidity: 50, pressure: 1000 }
  const response = await service.put('freezer', devicePassword, reading)
  if (!response.ok) throw new Error(`the reading was refused: ${response.status}`)
}

async function signIn(page: Page, name: string, path: string): Promise<void> {
  page.setDefaultTimeout(10 * 60_000)
  await signInFor(page, url, `${name}@example.com`, path)
}

const list = (page: Page, name: string) => page.getByRole('region', { name })

t.test('a rule is added with its preview, and its alert is on every page at once', async t => {
  await put(-18)
  await inBrowser(t, browser, desk, async page => {
    await signIn(page, 'ada', '/')
    await page.getByRole('link', { name: 'Tell me when a device goes silent' }).waitFor()
    await page.goto(`${url}/alerts/rules/new?device=freezer&metric=temperature`)
    await page.getByLabel('A mail to ada@example.com').uncheck()
    await page.getByLabel('Name').fill('Door open')
    await page.getByLabel('Limit').fill('-15')
    await page.getByLabel('Severity').selectOption('critical: look at it now')
    await page.getByText('It would not have fired.').waitFor()
    await inspect(t, page, 'a new rule')
    await page.getByRole('button', { name: 'Add the rule' }).click()
    await page.waitForURL(`${url}/alerts/rules`)
    await becomes(
      t,
      () => textOf(page.locator('.records > li')),
      /Door open[\s\S]*Temperature above −15\.0 °C · freezer · tells nobody/,
    )
    await page.getByRole('link', { name: 'Alerts' }).first().click()
    await page.getByText('Nothing fires.').waitFor()
    await waitFor('rules are evaluated', () => service.output().includes('alerts are evaluated'))
    await put(-10)
    await becomes(t, () => textOf(list(page, 'Firing')), /critical[\s\S]*freezer[\s\S]*Door open[\s\S]*−10\.0 °C/)
    await becomes(t, () => page.title(), '1 firing – Alerts – Barograph')
    await page.getByRole('button', { name: 'Acknowledge Door open, freezer' }).click()
    await becomes(t, () => textOf(list(page, 'Firing')), /acknowledged by/)
    await page.getByRole('button', { name: 'Silence for 1 hour Door open, freezer' }).click()
    await becomes(t, () => textOf(list(page, 'Firing')), /silenced: nobody is told/)
    await page.getByRole('button', { name: 'History Door open, freezer' }).click()
    await becomes(t, () => textOf(page.locator('.history')), /fires[\s\S]*is acknowledged/)
    await page.getByRole('link', { name: 'freezer' }).click()
    await becomes(
      t,
      () => textOf(page.locator('.device-alerts')),
      /critical Door open[\s\S]*1 rule of yours watches this device/,
    )
    await page.getByRole('heading', { name: 'Alerts' }).waitFor()
    await inspect(t, page, 'a device with an alert')
    await put(-20)
    await becomes(t, () => page.locator('.device-alerts li').count(), 0, 'it has ended')
    await becomes(t, () => page.title(), 'freezer – Barograph')
  })
})

t.test('another person sees no alert of it, and somebody without a session neither', async t => {
  await put(-5)
  await inBrowser(t, browser, phone, async page => {
    await signIn(page, 'eve', '/alerts')
    await page.getByText('Nothing fires.').waitFor()
    await page.goto(`${url}/alerts/rules`)
    await page.getByText('There are no rules here.').waitFor()
  })
  await inBrowser(t, browser, phone, async page => {
    page.setDefaultTimeout(10 * 60_000)
    await page.goto(`${url}/alerts`)
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).waitFor()
    await becomes(t, () => page.getByText('Door open').count(), 0)
  })
})

t.test('a channel, a silence of each week and a rule end as they were made', async t => {
  await inBrowser(t, browser, desk, async page => {
    await signIn(page, 'ada', '/alerts/channels')
    await page.getByRole('button', { name: 'Add a channel' }).click()
    await page.getByLabel('Name').fill('Mail')
    await page.getByLabel('E-mail address').fill('ada@example.com')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Mail is added.').waitFor()
    await page.getByRole('button', { name: 'Send a test Mail' }).click()
    await page.getByText('The test of Mail is written to a file: no mail server (SMTP_URL).').waitFor()
    await page.getByRole('link', { name: 'Silences' }).click()
    await becomes(t, () => textOf(page.locator('.records')), /freezer[\s\S]*silent now[\s\S]*From the list of alerts/)
    await page.getByRole('button', { name: 'End freezer' }).click()
    await page.getByText('The silence of freezer has ended.').waitFor()
    await page.getByRole('button', { name: 'New silence' }).click()
    await page.getByLabel('For', { exact: true }).selectOption('each week')
    await page.getByLabel('From').fill('22:00')
    await page.getByLabel('Until').fill('06:00')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await becomes(t, () => textOf(page.locator('.records').first()), /Saturdays and Sundays 22:00–06:00/)
    await page.getByRole('link', { name: 'Deliveries' }).click()
    await becomes(
      t,
      () => textOf(page.locator('.records')),
      /A test[\s\S]*to Mail · written to a file: no mail server · 1 attempt/,
    )
    await page.getByRole('link', { name: 'Rules' }).click()
    await page.getByRole('button', { name: 'Remove Door open' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').fill('Door open')
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Door open is removed.').waitFor()
    await page.getByText('There are no rules here.').waitFor()
  })
})
