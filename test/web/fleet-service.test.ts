/** The fleet page on the whole service: the commands of an empty fleet send a first reading, which comes by itself. */

import { resolve } from 'node:path'
import t from 'tap'
import { buildWeb } from '../../web/build.ts'
import { firstReading } from '../../web/pages/fleet/first-reading.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser } from '../support/browser-page.ts'
import { runToEnd } from '../support/run-program.ts'
import { sharedService } from '../support/service.ts'

await buildWeb()
const browser = await openBrowser()
t.teardown(() => browser.close())
const folder = resolve(import.meta.dirname, '../..')

t.test('a first reading appears by itself, and the next one in its place', async t => {
  const service = await sharedService(t)
  const { url, dataDirectory } = service
  const environment = { ...process.env, DATA_DIR: dataDirectory, PORT: new URL(url).port }
  const [add, send] = [firstReading.add, firstReading.send(url)].map(text => text.replaceAll('porch', 'fleet-porch'))
  await inBrowser(t, browser, desk, async page => {
    await page.goto(`${url}/?q=fleet-porch`)
    await page
      .getByText(/No device/)
      .first()
      .waitFor()
    const added = await runToEnd('sh', ['-ec', add ?? ''], { folder, environment })
    const { password } = JSON.parse(added.stdout)
    const sent = await runToEnd('sh', ['-ec', (send ?? '').replace('PASSWORD', password)], { folder, environment })
    t.match(JSON.parse(sent.stdout), { status: 'success' })
    await page.getByRole('link', { name: 'fleet-porch', exact: true }).waitFor()
    await page.getByText('21.4').waitFor()
    // What is read again tells nothing new, so what comes has come as an event.
    await page.route(/\/api\/fleet/, route => route.fulfill({ status: 304 }))
    const reading = { device: 'fleet-porch', temperature: -3.5, humidity: 48, pressure: 1013.2 }
    t.equal((await service.put('fleet-porch', password, reading)).status, 200)
    await page.getByText('−3.5').waitFor()
  })
})
