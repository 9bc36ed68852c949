/** Alerts in a browser, on the whole service: a rule is added on the page, fires by a reading and ends by one. */

import t from 'tap'
import { becomes } from '../support/becomes.ts'
import { textOf } from '../support/browser-page.ts'
import { makePerson } from '../support/people.ts'
import { sharedService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'
import { pageTests } from './page-tests.ts'
import { useSession } from './sign-in-page.ts'

const device = 'alerts-freezer'

const service = await sharedService(t)
const { url } = service
const { onDesk } = await pageTests(t)
const owner = await makePerson(service)
const devicePassword = await service.addDevice(device, { location_short: 'Cellar', owner: owner.id })

async function put(temperature: number): Promise<void> {
  const reading = { device, temperature, humidity: 50, pressure: 1000 }
  t.equal((await service.put(device, devicePassword, reading)).status, 200)
}

onDesk('a rule is added with its preview, so that its alert is on every page', async (page, t) => {
  await put(-18)
  await useSession(page, url, owner.cookie)
  await page.goto(`${url}/alerts/rules/new?device=${device}&metric=temperature`)
  await page.getByLabel('Name').fill('Door open')
  await page.getByLabel('Limit').fill('-15')
  await page.getByLabel('Severity').selectOption('critical: look at it now')
  await page.getByText('It would not have fired.').waitFor()
  await page.getByRole('button', { name: 'Add the rule' }).click()
  await page.waitForURL(`${url}/alerts/rules`)
  const record = /Door open[\s\S]*Temperature above −15\.0 °C · alerts-freezer · 1 channel/
  await becomes(t, () => textOf(page.locator('.records > li')), record)
  await page.getByRole('link', { name: 'Alerts' }).first().click()
  await page.getByText('No firing alerts.').waitFor()
  const firing = page.getByRole('region', { name: 'Firing' })
  // Rules may not be evaluated yet when the first one comes.
  await waitFor('it fires', async () => {
    await put(-10)
    return (await firing.locator('.records > li').count()) > 0
  })
  await becomes(t, () => textOf(firing), /critical[\s\S]*alerts-freezer[\s\S]*Door open[\s\S]*−10\.0 °C/)
  await becomes(t, () => page.title(), '1 firing – Alerts – Barograph')
  await page.getByRole('button', { name: 'Acknowledge Door open, alerts-freezer' }).click()
  await becomes(t, () => textOf(firing), /acknowledged by/)
  await page.getByRole('button', { name: 'Silence for 1 hour Door open, alerts-freezer' }).click()
  await becomes(t, () => textOf(firing), /silenced: no notifications/)
  await page.getByRole('button', { name: 'History Door open, alerts-freezer' }).click()
  await becomes(t, () => textOf(page.locator('.history')), /fires[\s\S]*is acknowledged/)
  await page.getByRole('link', { name: device }).click()
  const alerts = page.locator('.device-alerts')
  await becomes(t, () => textOf(alerts), /critical Door open[\s\S]*1 rule of yours watches this device/)
  await put(-20)
  await becomes(t, () => alerts.locator('li').count(), 0, 'it has ended')
  await becomes(t, () => page.title(), `${device} – Barograph`)
  await page.goto(`${url}/alerts/silences`)
  await page.getByRole('button', { name: `End ${device}` }).click()
  await page.getByText(`The silence of ${device} has ended.`).waitFor()
  await page.goto(`${url}/alerts/channels`)
  await page.getByRole('button', { name: /^Send a test/ }).click()
  await page.getByText(/The test of .* is written to a file: no mail server \(SMTP_URL\)\./).waitFor()
  await page.goto(`${url}/alerts/rules`)
  await page.getByRole('button', { name: 'Remove Door open' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox').fill('Door open')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('There are no rules here.').waitFor()
})
