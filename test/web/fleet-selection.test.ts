/** Many devices changed at once on the fleet page, beside made answers of the service. */

import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import t from 'tap'
import { becomes } from '../support/becomes.ts'
import { inspect, region } from '../support/browser-page.ts'
import { madeDevices, openFleetServer } from './fleet-server.ts'
import { pageTests } from './page-tests.ts'

const { onDesk, onPhone } = await pageTests(t)
const server = await openFleetServer(t, madeDevices(600))

/** Signs in and collects the bodies of changes. `answer` answers the first one. */
async function signIn(
  page: Page,
  role: 'operator' | 'administrator' | 'user',
  answer: object = {},
): Promise<unknown[]> {
  const bodies: unknown[] = []
  const json = (path: string, body: object) => page.route(`**${path}`, route => route.fulfill({ json: body }))
  await json('/auth/session', { user: { name: 'Ada' }, role })
  await json('/v1/auth/me/preferences', {})
  await json('/v1/auth/me', { id: 7 })
  await json('/api/admin/accounts/7', { id: 7, role })
  await page.route('**/api/admin/device-changes', route => {
    bodies.push(route.request().postDataJSON())
    return route.fulfill({ json: { done: 0, failed: [], issued: [], ...(bodies.length === 1 ? answer : {}) } })
  })
  return bodies
}

/** Waits until the loaded part has the focus. */
async function begin(page: Page): Promise<void> {
  await page.locator('.toolbar').getByRole('button', { name: 'Select', exact: true }).click()
  await page.locator('.selection button:focus').waitFor()
}
const button = (page: Page, name: string | RegExp) => region(page, 'Selection').getByRole('button', { name })
const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name }).click()
const box = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true })

const isCovered = `(() => {
  const { left, top, right, bottom } = document.activeElement.getBoundingClientRect()
  const at = document.elementFromPoint((left + right) / 2, top + 1)
  return at === null || !(document.activeElement.contains(at) || at.contains(document.activeElement)) || bottom > innerHeight
})()`

onPhone('devices are selected by keys for a confirmed change that names failures', async (page, t) => {
  const failed = [{ device: 'sensor-00001', reason: 'device unknown' }]
  const bodies = await signIn(page, 'operator', { done: 1, failed })
  await page.goto(`${server.url}/?sort=device`)
  await begin(page)
  await box(page, 'sensor-00000').focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowDown')
  await becomes(t, () => page.evaluate('document.activeElement.ariaLabel'), 'Select sensor-00001')
  await page.keyboard.press('Space')
  await page.getByText('2 selected.', { exact: true }).waitFor()
  await button(page, 'Suspend').click()
  await page.getByRole('dialog', { name: 'Suspend 2 devices?' }).waitFor()
  await page.getByText('Their readings are refused until they are resumed.').waitFor()
  await inspect(t, page, 'question')
  await confirm(page, 'Suspend')
  await page.getByText('1 device suspended. Not done for 1 device:').waitFor()
  await page.getByText('sensor-00001: device unknown').waitFor()
  t.strictSame(bodies, [{ action: 'suspend', devices: ['sensor-00000', 'sensor-00001'] }])
  await page.getByLabel('Search').fill('sensor-0059')
  await page.getByText('0 selected.', { exact: true }).waitFor()
  await button(page, 'Done').click()
  await becomes(t, () => page.evaluate('document.activeElement.innerText'), 'Select')
  await becomes(t, () => page.getByRole('checkbox').count(), 0)
})

onDesk('the selection stays at the upper edge without covering the focus', async (page, t) => {
  await signIn(page, 'administrator')
  await page.goto(`${server.url}/?sort=device`)
  await begin(page)
  await box(page, 'sensor-00000').focus()
  await page.keyboard.press('End')
  await becomes(t, () => page.evaluate('document.activeElement.ariaLabel'), 'Select sensor-00599')
  await becomes(t, () => page.evaluate("document.querySelector('.at-top').getBoundingClientRect().top"), 0)
  for (let row = 598; row > 580; row--) {
    await page.keyboard.press('ArrowUp')
    await becomes(t, () => page.evaluate('document.activeElement.ariaLabel'), `Select sensor-00${row}`)
    await becomes(t, () => page.evaluate(isCovered), false, `row ${row} is seen`)
  }
  // The browser itself scrolls to the target of Tab.
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  await button(page, 'Done').focus()
  await page.keyboard.press('Shift+Tab')
  await becomes(t, () => page.evaluate(isCovered), false, 'what is before the bar is seen')
  await button(page, 'Done').click()
  await becomes(t, () => page.evaluate("document.documentElement.style.getPropertyValue('--at-top')"), '')
})

onDesk('new passwords of all that match are shown once', async (page, t) => {
  const issued = [{ device: 'sensor, 1', password: 'f00d', old_password_until: null }]
  const bodies = await signIn(page, 'administrator', { done: 1, issued })
  await page.goto(server.url)
  await begin(page)
  await button(page, /^All that match/).click()
  await page.getByText('500 selected. A change takes no more.').waitFor()
  await button(page, 'New passwords').click()
  await page.getByLabel('The old passwords end at once').check()
  await confirm(page, 'New passwords')
  const shown = region(page, 'New passwords')
  await becomes(t, () => shown.locator('pre').textContent(), 'device,password\n"sensor, 1",f00d\n')
  await inspect(t, page, 'passwords')
  const downloading = page.waitForEvent('download')
  await shown.getByRole('link', { name: 'Download CSV' }).click()
  const file = await downloading
  t.equal(file.suggestedFilename(), 'device-passwords.csv')
  t.equal(await text(await file.createReadStream()), 'device,password\n"sensor, 1",f00d\n')
  const [body] = bodies as { devices: string[]; now: boolean }[]
  t.match(body, { action: 'rotate', now: true })
  t.equal(body?.devices.length, 500)
  await shown.getByRole('button', { name: 'I have it' }).click()
  for (const [at, action] of ['Tag', 'Untag'].entries()) {
    await button(page, new RegExp(`^${action}`)).click()
    await page.getByLabel('Tag', { exact: true }).fill('site:berlin')
    await confirm(page, action)
    await becomes(t, async () => bodies.length, at + 2)
    t.match(bodies[at + 1], { action: action.toLowerCase(), tag: 'site:berlin' })
  }
})

onDesk('only administrators select devices', async (page, t) => {
  await signIn(page, 'user')
  const answered = page.waitForResponse('**/api/admin/accounts/7')
  await page.goto(server.url)
  await answered
  await page.getByRole('table').waitFor()
  await becomes(t, () => page.getByRole('button', { name: 'Select', exact: true }).count(), 0)
})
