/** A view on a wall, beside a made answer of the service: what fits, how it turns, and that it tells when it is not current. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { fitCards } from '../../web/wall/fit-cards.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, inspect, lookAgain, phone } from '../support/browser-page.ts'
import { madeDevices, markAt, openFleetServer } from '../support/fleet-server.ts'

const browser = await openBrowser()
t.teardown(() => browser.close())
const server = await openFleetServer(t, madeDevices(8))
const television = { viewport: { width: 1920, height: 1080 } }

/** The link shows the view; its token is any text here. */
async function openWall(page: Page, address: string): Promise<void> {
  const view = { name: 'Cold stores', address, expires_at: '2030-01-01T00:00:00.000Z' }
  await page.route('**/v1/auth/shared-view', route => route.fulfill({ json: view }))
  await page.goto(`${server.url}/wall#token`)
}
const cards = (page: Page) => page.locator('.wall-card')

for (const [name, options] of Object.entries({ television, phone })) {
  t.test(`the devices of the fleet, the worst first, ${name}`, async t => {
    await inBrowser(t, browser, options, async page => {
      await openWall(page, '/')
      await page.getByRole('heading', { name: 'Cold stores' }).waitFor()
      await becomes(t, () => cards(page).first().innerText(), /sensor-00000[\s\S]*silent/)
      await page.getByText(/^8 devices: 1 silent, .* Updated \d/).waitFor()
      await becomes(t, () => page.locator('a[href], button, input').count(), 0, 'no controls')
      if (name === 'television') await inspect(t, page, 'wall')
      const excess = () => page.evaluate('document.documentElement.scrollHeight - innerHeight')
      await becomes(t, excess, 0, 'nothing is below the screen')
    })
  })
}

const berlin = { west: 13.3, south: 52.4, east: 13.5, north: 52.6 }

t.test('a view of the map fills the screen with all devices', async t => {
  const counts = { silent: 1, late: 0, never: 0, fresh: 3, off: 0 }
  server.marks = [markAt(52.5, 13.4, 'cellar', { extent: berlin, counts }), markAt(-33.9, 18.4, 'buoy')]
  await inBrowser(t, browser, television, async page => {
    await openWall(page, '/?show=map')
    const buoy = page.getByRole('img', { name: 'buoy, Shed: fresh' })
    await buoy.waitFor()
    await page.getByRole('img', { name: '4 devices: 1 silent, 3 fresh' }).waitFor()
    await page.locator('.map .land').waitFor({ state: 'attached' })
    await page.getByText(/^8 devices: 1 silent, .* Updated \d/).waitFor()
    await becomes(t, () => page.locator('a[href], button, input, summary').count(), 0, 'no controls')
    await inspect(t, page, 'wall of a map')
    const excess = () => page.evaluate('document.documentElement.scrollHeight - innerHeight')
    await becomes(t, excess, 0, 'nothing is below the screen')
    const { height = 0 } = (await buoy.locator('.name').boundingBox()) ?? {}
    t.ok(height >= 36, `its name is ${height} pixels high`)
    server.marks = [...server.marks, markAt(35.7, 139.7, 'tokyo')]
    await lookAgain(page)
    await page.getByRole('img', { name: 'tokyo, Shed: fresh' }).waitFor()
  })
})

t.test('a lost connection and a session that has ended are told, and end by themselves', async t => {
  t.teardown(() => {
    server.refusal = undefined
  })
  await inBrowser(t, browser, television, async page => {
    const views = [{ id: 7, name: 'Cold stores', address: '/' }]
    let isSignedIn = true
    await page.route('**/v1/auth/me/views', route =>
      isSignedIn ? route.fulfill({ json: views }) : route.fulfill({ status: 401, json: { detail: 'no' } }),
    )
    await page.goto(`${server.url}/wall?view=7`)
    await cards(page).first().waitFor()
    const alert = page.getByRole('alert')
    server.refusal = { status: 503, body: { status: 'database unavailable' } }
    await alert.getByText(/cannot read .*database unavailable.* is of \d+ \w+ \d+, \d+:\d+:\d+/).waitFor()
    await becomes(t, () => cards(page).count(), 8, 'what there was stays')
    server.refusal = undefined
    await becomes(t, () => alert.count(), 0)
    isSignedIn = false
    server.refusal = { status: 401, body: { status: 'unauthorized' } }
    await lookAgain(page)
    await alert.getByText('nobody is signed in any more').waitFor()
    await becomes(t, () => cards(page).count(), 0, 'no numbers are shown any more')
    isSignedIn = true
    server.refusal = undefined
    await lookAgain(page)
    await becomes(t, () => alert.count(), 0)
    await becomes(t, () => cards(page).count(), 8, 'once somebody is signed in again')
  })
})

/** In the page, in place of what a browser without a screen has: it counts, and a lock ends with the sight of the page. */
const wakeLock = `globalThis.locks = { requested: 0, held: 0 }
  Object.defineProperty(navigator, 'wakeLock', { value: { async request(type) {
    if (type !== 'screen' || document.visibilityState !== 'visible') throw new Error('not now')
    locks.requested++
    locks.held++
    const end = () => { if (document.visibilityState === 'hidden') { locks.held--; document.removeEventListener('visibilitychange', end) } }
    document.addEventListener('visibilitychange', end)
    return { release: async () => void locks.held-- }
  } } })`

t.test('the screen stays on while the wall is seen', async t => {
  await inBrowser(t, browser, desk, async page => {
    await page.addInitScript(wakeLock)
    await openWall(page, '/')
    await becomes(t, () => page.evaluate('locks'), { requested: 1, held: 1 })
    await lookAgain(page)
    await becomes(t, () => page.evaluate('locks'), { requested: 2, held: 1 }, 'also after it was hidden')
  })
  await inBrowser(t, browser, desk, async page => {
    await page.addInitScript(
      "Object.defineProperty(navigator, 'wakeLock', { value: { request: async () => { throw new Error('low battery') } } })",
    )
    await openWall(page, '/')
    await cards(page).first().waitFor()
  })
})

t.test('of more devices than fit, pages turn by the keys', async t => {
  server.devices = madeDevices(60)
  t.teardown(() => {
    server.devices = madeDevices(8)
  })
  await inBrowser(t, browser, phone, async page => {
    await openWall(page, '/')
    await page.getByText(/^Devices 1 to \d+ of 60$/).waitFor()
    await page.keyboard.press('Space')
    await page.getByText('Paused: Space goes on').waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.getByText(/^Devices \d+ to 60 of 60/).waitFor()
  })
})

t.test('a view of another page says that it is none for a wall, and an ended link that it has ended', async t => {
  await inBrowser(t, browser, desk, async page => {
    await openWall(page, '/compare?a=porch&b=roof')
    await page.getByText('A wall shows views of the fleet and of charts').waitFor()
  })
  await inBrowser(t, browser, desk, async page => {
    await page.route('**/v1/auth/shared-view', route => route.fulfill({ status: 401, json: { detail: 'no' } }))
    await page.goto(`${server.url}/wall#token`)
    await page.getByRole('alert').getByText('The link of this view has ended').waitFor()
  })
})

t.test('lines of a view of charts have their last values above a chart that fills the screen', async t => {
  await inBrowser(t, browser, television, async page => {
    const nowMs = Date.now()
    const metrics = {}
    const latest = { device: 'porch', location_short: 'Porch', state: 'fresh', last_seen: nowMs, metrics }
    const values = { temperature: { v: 21.4, ts: nowMs, unit: '°C' }, humidity: { v: 48, ts: nowMs, unit: '%' } }
    const rows = Array.from({ length: 100 }, (_, place) => {
      const ts = nowMs - (100 - place) * 600_000
      return { ts, temperature_mean: 20 + Math.sin(place / 9), humidity_mean: 50 + Math.cos(place / 7) }
    })
    await page.route('**/api/latest/porch', route => route.fulfill({ json: { ...latest, values } }))
    await page.route('**/api/readings/porch?*', route => route.fulfill({ json: rows }))
    const annotations = { device: 'porch', may_annotate: false, may_annotate_all: false, annotations: [] }
    await page.route('**/api/device/porch/annotations', route => route.fulfill({ json: annotations }))
    await openWall(page, '/charts?line=temperature:porch&line=humidity:porch')
    await becomes(t, () => page.locator('.wall-value').allInnerTexts(), ['21.4\u202f°C', '48\u202f%'])
    await page.locator('.wall-chart canvas').waitFor()
    await page.getByText(/Updated \d/).waitFor()
    await inspect(t, page, 'wall of charts')
    const excess = () => page.evaluate('document.documentElement.scrollHeight - innerHeight')
    await becomes(t, excess, 0, 'nothing is below the screen')
  })
})

t.test('cards are as large as they fit', t => {
  t.strictSame(fitCards(1, 1920, 950), { fontPx: 44, columns: 1, perPage: 4 })
  t.match(fitCards(8, 1920, 950), { columns: 3 })
  t.strictSame(fitCards(500, 370, 700), { fontPx: 16, columns: 1, perPage: 4 })
  t.strictSame(fitCards(0, 0, 0), { fontPx: 44, columns: 1, perPage: 1 })
  t.end()
})
