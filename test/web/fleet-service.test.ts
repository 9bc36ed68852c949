/** The fleet page on the whole service: from no device to the first reading, and through an outage. */

import { resolve } from 'node:path'
import t from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { buildWeb } from '../../web/build.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, inspect, phone } from '../support/browser-page.ts'
import { runToEnd } from '../support/run-program.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

await buildWeb()
const browser = await openBrowser()
t.teardown(() => browser.close())
const root = resolve(import.meta.dirname, '../..')
const patience = { timeout: 120_000 }

t.test('a first reading appears by itself, and the next one in its place', async t => {
  const environment = { PORT: String(await freePort()), TIME_ZONE: 'Europe/Berlin' }
  const service = await startService(t, { environment })
  await inBrowser(t, browser, desk, async page => {
    await page.goto(service.url)
    await page.getByText(`${service.url}/api/log`).waitFor(patience)
    const password = await service.addDevice('<i>porch', { location_short: 'Porch & co' })
    const send = (temperature: number) =>
      service.put('<i>porch', password, { device: '<i>porch', temperature, humidity: 48, pressure: 1013.2 })
    t.equal((await send(21.4)).status, 200)
    await page.getByRole('link', { name: '<i>porch', exact: true }).waitFor(patience)
    await page.getByText('21.4').waitFor(patience)
    await page.getByText('Live.').waitFor(patience)
    // What is read again tells nothing new, so what comes has come as an event.
    await page.route(/\/api\/fleet/, route => route.fulfill({ status: 304 }))
    t.equal((await send(-3.5)).status, 200)
    await page.getByText('−3.5').waitFor(patience)
    await page.unroute(/\/api\/fleet/)
    await inspect(t, page, 'one device')

    await service.killAll()
    await page.getByText('The service does not answer').waitFor(patience)
    await becomes(t, () => page.title(), 'No connection – Fleet – Barograph')
    await becomes(t, () => page.locator('.stale').count(), 1)
    await page.getByText('−3.5').waitFor(patience)
    await inspect(t, page, 'service gone')
    const { dataDirectory } = service
    await startService(t, { environment, dataDirectory })
    await page.locator('.banner').waitFor({ state: 'detached', ...patience })
    await becomes(t, () => page.locator('.stale').count(), 0)
    await page.getByText('−3.5').waitFor(patience)
  })
})

t.test('the commands that an empty fleet shows send its first reading', async t => {
  const environment = { PORT: String(await freePort()) }
  const service = await startService(t, { environment })
  await inBrowser(t, browser, desk, async page => {
    await page.goto(service.url)
    await page.getByRole('heading', { name: 'No device yet' }).waitFor(patience)
    const [add = '', send = ''] = await page.locator('pre').allInnerTexts()
    const settings = { ...process.env, ...environment, DATA_DIR: service.dataDirectory }
    const added = await runToEnd('sh', ['-ec', add], { folder: root, environment: settings })
    const { password } = JSON.parse(added.stdout)
    const sent = await runToEnd('sh', ['-ec', send.replace('PASSWORD', password)], { folder: root, environment: {} })
    t.match(JSON.parse(sent.stdout), { status: 'success' })
    await page.getByRole('link', { name: 'porch', exact: true }).waitFor(patience)
    await page.getByText('21.4').waitFor(patience)
  })
})

t.test('while QuestDB is away from the start, the page says so', async t => {
  const service = await startService(t, { environment: withoutQuestdb })
  await inBrowser(t, browser, phone, async page => {
    await page.goto(service.url)
    await page.getByText('The service cannot read its data at the moment').waitFor(patience)
    await inspect(t, page, 'no database')
  })
})
