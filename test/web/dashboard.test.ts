/** A dashboard in a browser: made, moved by keys, saved, and shown by a link and on a wall, with private reads. */

import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { becomes } from '../support/becomes.ts'
import { inBrowser, inspect, phone } from '../support/browser-page.ts'
import { makePerson } from '../support/people.ts'
import { startService } from '../support/service.ts'
import { pageTests } from './page-tests.ts'
import { addMetric, air, dayMs, dayWave, hourMs, minuteMs, seed, times } from './seed.ts'
import { useSession } from './sign-in-page.ts'

const service = await startService(t, { environment: { READS: 'private' } })
const { browser, onDesk, on } = await pageTests(t)
const { url } = service

const endMs = Math.floor(Date.now() / (10 * minuteMs)) * 10 * minuteMs
const twoDays = times(endMs - 2 * dayMs, endMs)
const shower = (atMs: number) => (Math.floor(atMs / hourMs) % 7 < 2 ? 0.4 : 0)
const ofAir = ['temperature', 'humidity', 'pressure']
for (const name of ['rain', 'door']) await addMetric(service, { name })
await seed(service, {
  porch: {
    settings: { location_short: 'Front door', latitude: 52.5, longitude: 13.4, metrics: [...ofAir, 'rain'] },
    readings: twoDays.map(atMs => [
      atMs,
      { ...air(12 + 6 * dayWave(atMs), 60 - 20 * dayWave(atMs)), rain: shower(atMs) },
    ]),
  },
  roof: {
    settings: { location_short: 'Roof, north side', latitude: 52.6, longitude: 13.2, metrics: [...ofAir, 'door'] },
    readings: twoDays.map(atMs => [atMs, { ...air(9 + 8 * dayWave(atMs)), door: Math.floor(atMs / (5 * hourMs)) % 2 }]),
  },
})
const { cookie } = await makePerson(service, { viewer: true })

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const titles = (page: Page) => page.locator('.dash-panel h2').allInnerTexts()
/** The selector may match several elements. */
const textsOf = async (page: Page, selector: string) => (await page.locator(selector).allInnerTexts()).join('\n')
const spoken = (page: Page) => page.locator('main > [aria-live]').innerText()

async function addPanel(page: Page, kind: string, fields: { device?: string; metrics?: string[]; width?: string }) {
  await press(page, 'Add a panel')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Kind').selectOption(kind)
  if (fields.device !== undefined) {
    await dialog.getByLabel('Device', { exact: true }).fill(fields.device)
    await page.keyboard.press('Tab')
  }
  for (const metric of fields.metrics ?? []) await dialog.getByRole('checkbox', { name: metric }).check()
  if (fields.width !== undefined) await dialog.getByLabel('Width').selectOption(fields.width)
  return dialog
}

/** The browser measures the shift of the layout since the load of this page. */
async function isCalm(t: Test, page: Page): Promise<void> {
  const shift = await page.evaluate(`new Promise(done => {
    new PerformanceObserver(list => done(list.getEntries().reduce((sum, { value }) => sum + value, 0)))
      .observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => done(0), 1000)
  })`)
  t.ok(Number(shift) <= 0.05, `the layout shifts by ${shift}`)
}

let address = ''

onDesk('a dashboard is made of panels, moved by keys, saved, changed and restored', async (page, t) => {
  await useSession(page, url, cookie)
  await page.goto(url)
  await press(page, 'Views')
  await page.getByRole('link', { name: 'New dashboard' }).click()
  await page.getByText('Add the first one.').waitFor()
  let dialog = await addPanel(page, 'Value', { device: 'porch', metrics: ['Temperature', 'Humidity'] })
  await inspect(t, page, 'the form of a panel')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  dialog = await addPanel(page, 'Line', { device: 'porch', metrics: ['Temperature'] })
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  dialog = await addPanel(page, 'List of devices', { width: 'The whole row' })
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  const [value, line, list] = ['porch: Temperature and humidity', 'porch: Temperature, last 24 hours', 'Devices']
  await becomes(t, () => titles(page), [value, line, list])
  const handle = page.getByRole('button', { name: `Move ${value}`, exact: true })
  await handle.press('ArrowRight')
  await becomes(t, () => spoken(page), `${value}: place 2 of 3.`)
  const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label')")
  await becomes(t, focused, `Move ${value}`, 'the focus moves with it')
  await handle.press('ArrowDown')
  await handle.press('ArrowDown')
  await becomes(t, () => titles(page), [line, list, value])
  await inspect(t, page, 'the editor')

  await page.getByLabel('Name').fill('Home')
  await page.reload()
  await page.getByText('Your changes from before are not saved yet.').waitFor()
  await becomes(t, () => page.getByLabel('Name').inputValue(), 'Home')
  await press(page, 'Save')
  await page.waitForURL(/\/dashboard\/\d+$/)
  address = page.url()
  await becomes(t, () => page.locator('h1').innerText(), 'Home')
  await becomes(t, () => titles(page), [line, list, value])

  await press(page, 'Edit')
  await press(page, `Remove ${list}`)
  await page.getByRole('link', { name: 'Fleet', exact: true }).click()
  await page.goBack()
  await page.getByText('Your changes from before are not saved yet.').waitFor()
  await press(page, 'Discard changes')
  await becomes(t, () => titles(page), [line, list, value], 'as it was saved')
})

onDesk('a panel is moved by a drag', async (page, t) => {
  await useSession(page, url, cookie)
  await page.goto(address)
  await press(page, 'Edit')
  const [first = '', second = '', third = ''] = await titles(page)
  await page.getByRole('button', { name: `Move ${third}`, exact: true }).hover()
  await page.mouse.down()
  await page.getByRole('heading', { name: first }).hover()
  await page.mouse.up()
  await becomes(t, () => titles(page), [third, first, second])
  await press(page, 'Discard changes')
})

/** The panels of the saved dashboard become these. */
async function setPanels(panels: object[]): Promise<void> {
  const headers = { cookie, 'content-type': 'application/json' }
  const path = address.replace(/.*dashboard/, `${url}/v1/auth/me/views`)
  const { status } = await fetch(path, { method: 'PATCH', headers, body: JSON.stringify({ panels }) })
  t.equal(status, 200)
}

const porch = { devices: ['porch'], metrics: ['temperature'] }

onDesk('panels of each kind share their reads, and one without its device says so', async (page, t) => {
  await setPanels([
    { kind: 'value', ...porch, width: 1 },
    { kind: 'value', devices: ['roof'], metrics: ['temperature'], width: 1 },
    { kind: 'value', devices: ['gone', 'porch'], metrics: ['humidity'] },
    { kind: 'line', devices: ['porch', 'roof'], metrics: ['temperature'], title: 'Outside' },
    { kind: 'line', ...porch, range: '24h' },
    { kind: 'bars', devices: ['porch'], metrics: [...ofAir, 'rain'] },
    { kind: 'state', devices: ['roof'], metrics: [...ofAir, 'door'] },
    { kind: 'map' },
    { kind: 'list', search: 'o' },
    { kind: 'findings', devices: ['porch', 'roof'] },
    { kind: 'findings' },
    { kind: 'bars', devices: ['gone'], metrics: [...ofAir, 'rain'] },
  ])
  await useSession(page, url, cookie)
  const running = new Set<string>()
  const twice: string[] = []
  page.on('request', request => {
    const address = request.url()
    if (running.has(address)) twice.push(address)
    running.add(address)
  })
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', request => running.delete(request.url()))
  await page.goto(address)
  await becomes(t, () => textsOf(page, '.value-panel'), /°C[\s\S]*°C[\s\S]*gone: there is no such device\.[\s\S]*%/)
  await becomes(t, () => textsOf(page, '.bars-panel'), /Rain[\s\S]*gone: there is no such device\./)
  await becomes(t, () => page.locator('.state-panel').innerText(), /off/)
  await becomes(t, () => page.locator('.line-panel canvas').count(), 2)
  await becomes(t, () => page.locator('.list-panel li').count(), 2)
  await becomes(t, () => textsOf(page, '.findings-panel'), /porch[\s\S]*roof/)
  await page.getByRole('img', { name: /^porch/ }).waitFor()
  await page.locator('.map .land').waitFor({ state: 'attached' })
  t.strictSame(twice, [], 'no answer is asked for by two panels')
  await isCalm(t, page)
  await inspect(t, page, 'a dashboard')
})

on({ viewport: { width: 1920, height: 1080 } })(
  'a dashboard is shown by a link without an account, and on a wall',
  async (page, t) => {
    await setPanels([
      { kind: 'line', ...porch },
      { kind: 'value', ...porch },
      { kind: 'list', search: 'roof', width: 4 },
    ])
    await useSession(page, url, cookie)
    await page.goto(address)
    await press(page, 'Share')
    await press(page, 'Make a link')
    const link = await page.locator('pre[data-name="Address"]').innerText()
    await inBrowser(t, browser, phone, async visitor => {
      await visitor.goto(link)
      await becomes(t, () => visitor.locator('.value-panel').innerText(), /°C/)
      await visitor.locator('.line-panel canvas').waitFor()
      await becomes(t, () => textsOf(visitor, '.list-panel li'), /roof/)
      await becomes(t, () => visitor.locator('a[href]').count(), 0, 'nothing leads elsewhere')
      await isCalm(t, visitor)
      await inspect(t, visitor, 'a dashboard by its link')
      await setPanels([
        { kind: 'value', devices: ['roof'], metrics: ['temperature'] },
        { kind: 'map', search: 'porch' },
      ])
      await visitor.reload()
      await becomes(t, () => visitor.locator('.value-panel').innerText(), /°C/, 'the link shows the changed panels')
      await visitor.getByRole('img', { name: /^porch/ }).waitFor()
    })
    await page.goto(link.replace('/shared#', '/wall#'))
    await page.getByRole('heading', { name: 'Home' }).waitFor()
    await becomes(t, () => page.locator('.value-panel').innerText(), /°C/)
    await becomes(t, () => page.locator('a[href], button, input, summary').count(), 0, 'no controls')
    await becomes(t, () => page.evaluate('document.documentElement.scrollHeight - innerHeight'), 0)
    await isCalm(t, page)
    await inspect(t, page, 'a dashboard on a wall')
  },
)
