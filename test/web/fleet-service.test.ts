/** The fleet page on the whole service: from no device to the first reading, and through an outage. */

import t from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { buildWeb } from '../../web/build.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, inspect, phone } from '../support/browser-page.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

await buildWeb()
const browser = await openBrowser()
t.teardown(() => browser.close())
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
    t.equal(await page.title(), 'No connection – Fleet – Barograph')
    t.equal(await page.locator('.stale').count(), 1)
    await page.getByText('−3.5').waitFor(patience)
    await inspect(t, page, 'service gone')
    const { dataDirectory } = service
    await startService(t, { environment, dataDirectory })
    await page.locator('.banner').waitFor({ state: 'detached', ...patience })
    t.equal(await page.locator('.stale').count(), 0)
    await page.getByText('−3.5').waitFor(patience)
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
