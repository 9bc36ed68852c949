/** A view on a wall, beside a made answer of the service: its layout, its rotation, and its notice of outdated data. */

import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { fitCards } from '../../web/wall/fit-cards.ts'
import { becomes } from '../support/becomes.ts'
import { inspect, lookAgain, phone } from '../support/browser-page.ts'
import { madeDevices, markAt, openFleetServer } from './fleet-server.ts'
import { pageTests } from './page-tests.ts'

const { on, onDesk, onPhone } = await pageTests(t)
const server = await openFleetServer(t, madeDevices(8))
const television = { viewport: { width: 1920, height: 1080 } }

/** The link shows the view. Its token is any text here. */
async function openWall(page: Page, address: string): Promise<void> {
  const view = { name: 'Cold stores', address, expires_at: '2030-01-01T00:00:00.000Z' }
  await page.route('**/v1/auth/shared-view', route => route.fulfill({ json: view }))
  await page.goto(`${server.url}/wall#token`)
}
const cards = (page: Page) => page.locator('.wall-card')

/** Nothing is below the screen, and nothing can be pressed. */
async function fills(t: Test, page: Page, name: string): Promise<void> {
  await becomes(t, () => page.locator('a[href], button, input, summary').count(), 0, 'no controls')
  await inspect(t, page, name)
  await becomes(t, () => page.evaluate('document.documentElement.scrollHeight - innerHeight'), 0)
}

for (const [name, options] of Object.entries({ television, phone })) {
  on(options)(`the devices of the fleet, the worst first, ${name}`, async (page, t) => {
    await openWall(page, '/')
    await page.getByRole('heading', { name: 'Cold stores' }).waitFor()
    await becomes(t, () => cards(page).first().innerText(), /sensor-00000[\s\S]*silent/)
    await page.getByText(/^8 devices: 1 silent, .* Updated \d/).waitFor()
    await fills(t, page, name)
  })
}

const berlin = { west: 13.3, south: 52.4, east: 13.5, north: 52.6 }

on(television)('a view of the map fills the screen with all devices', async (page, t) => {
  const counts = { silent: 1, late: 0, never: 0, fresh: 3, off: 0 }
  server.marks = [markAt(52.5, 13.4, 'cellar', { extent: berlin, counts }), markAt(-33.9, 18.4, 'buoy')]
  await openWall(page, '/?show=map')
  const buoy = page.getByRole('img', { name: 'buoy, Shed: fresh' })
  await buoy.waitFor()
  await page.getByRole('img', { name: '4 devices: 1 silent, 3 fresh' }).waitFor()
  await page.locator('.map .land').waitFor({ state: 'attached' })
  await page.getByText(/^8 devices: 1 silent, .* Updated \d/).waitFor()
  await fills(t, page, 'wall of a map')
  const { height = 0 } = (await buoy.locator('.name').boundingBox()) ?? {}
  t.ok(height >= 36, `its name is ${height} pixels high`)
  server.marks = [...server.marks, markAt(35.7, 139.7, 'tokyo')]
  await lookAgain(page)
  await page.getByRole('img', { name: 'tokyo, Shed: fresh' }).waitFor()
})

on(television)('a lost connection and an expired session are shown until they end', async (page, t) => {
  const views = [{ id: 7, name: 'Cold stores', address: '/' }]
  let isSignedIn = true
  await page.route('**/v1/auth/me/views', route =>
    isSignedIn ? route.fulfill({ json: views }) : route.fulfill({ status: 401, json: { detail: 'no' } }),
  )
  await page.goto(`${server.url}/wall?view=7`)
  await cards(page).first().waitFor()
  const alert = page.getByRole('alert')
  server.refusal = { status: 503, body: { status: 'database unavailable' } }
  await lookAgain(page)
  await alert.getByText(/cannot read .*database unavailable.* as of \d+ \w+ \d+, \d+:\d+:\d+/).waitFor()
  await becomes(t, () => cards(page).count(), 8, 'what there was stays')
  server.refusal = undefined
  await becomes(t, () => alert.count(), 0)
  isSignedIn = false
  server.refusal = { status: 401, body: { status: 'unauthorized' } }
  await lookAgain(page)
  await alert.getByText('the session has ended').waitFor()
  await becomes(t, () => cards(page).count(), 0, 'no numbers are shown any more')
  isSignedIn = true
  server.refusal = undefined
  await lookAgain(page)
  await becomes(t, () => alert.count(), 0)
  await becomes(t, () => cards(page).count(), 8, 'after a new sign-in')
})

/** Replaces a missing API of a browser without a screen: it counts locks, which end with the visibility of the page. */
const wakeLock = `globalThis.locks = { requested: 0, held: 0 }
  Object.defineProperty(navigator, 'wakeLock', { value: { async request(type) {
    if (type !== 'screen' || document.visibilityState !== 'visible') throw new Error('not now')
    locks.requested++
    locks.held++
    const end = () => { if (document.visibilityState === 'hidden') { locks.held--; document.removeEventListener('visibilitychange', end) } }
    document.addEventListener('visibilitychange', end)
    return { release: async () => void locks.held-- }
  } } })`

onDesk('the screen stays on while the wall is seen', async (page, t) => {
  await page.addInitScript(wakeLock)
  await openWall(page, '/')
  await becomes(t, () => page.evaluate('locks'), { requested: 1, held: 1 })
  await lookAgain(page)
  await becomes(t, () => page.evaluate('locks'), { requested: 2, held: 1 }, 'also after it was hidden')
})

onPhone('of more devices than fit, pages turn by the keys', async page => {
  server.devices = madeDevices(60)
  await openWall(page, '/')
  await page.getByText(/^Devices 1 to \d+ of 60$/).waitFor()
  await page.keyboard.press('Space')
  await page.getByText('Paused: Space goes on').waitFor()
  await page.keyboard.press('ArrowLeft')
  await page.getByText(/^Devices \d+ to 60 of 60/).waitFor()
})

onDesk('a wall reports a view of another page and an ended link', async page => {
  await openWall(page, '/compare?a=porch&b=roof')
  await page.getByText('A wall shows the fleet, charts and dashboards').waitFor()
  await page.route('**/v1/auth/shared-view', route => route.fulfill({ status: 401, json: { detail: 'no' } }))
  await page.reload()
  await page.getByRole('alert').getByText('The link of this view has ended').waitFor()
})

t.test('cards are as large as they fit', t => {
  t.strictSame(fitCards(1, 1920, 950), { fontPx: 44, columns: 1, perPage: 4 })
  t.match(fitCards(8, 1920, 950), { columns: 3 })
  t.strictSame(fitCards(500, 370, 700), { fontPx: 16, columns: 1, perPage: 4 })
  t.strictSame(fitCards(0, 0, 0), { fontPx: 44, columns: 1, perPage: 1 })
  t.end()
})
