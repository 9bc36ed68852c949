/** The map of the fleet: its computations, and its page in a browser beside a made answer. */

import t from 'tap'
import type { FleetMap } from '../../query/live/fleet-shape.ts'
import {
  bounded,
  boxText,
  fitted,
  latitudeAt,
  longitudeAt,
  moved,
  pixelOf,
  projected,
  scaleBar,
  zoomed,
} from '../../web/map/map-window.ts'
import { markText, mergedMarks, namePlaces, worstState } from '../../web/map/merged-marks.ts'
import { mapArguments, readView } from '../../web/pages/fleet/fleet-view.ts'
import { becomes } from '../support/becomes.ts'
import { inspect } from '../support/browser-page.ts'
import { waitFor } from '../support/wait-for.ts'
import { madeDevices, markAt, noCounts, openFleetServer } from './fleet-server.ts'
import { pageTests } from './page-tests.ts'

type Mark = FleetMap['marks'][number]

t.test('a box is fitted, and the fixed point of a zoom stays in place', async t => {
  const size = { width: 1000, height: 500 }
  for (const [latitude, longitude] of [[52.5, 13.4] as const, [-85, 179.9] as const]) {
    const { x, y } = projected({ latitude, longitude })
    t.ok(Math.abs(latitudeAt(y) - latitude) < 1e-9 && Math.abs(longitudeAt(x) - longitude) < 1e-9)
  }
  const box = { west: 5, south: 45, east: 15, north: 55 }
  const window = fitted(box, size)
  for (const [latitude, longitude] of [[45, 5] as const, [55, 15] as const]) {
    const { x, y } = pixelOf(projected({ latitude, longitude }), window, size)
    t.ok(x >= 47 && x <= 953 && y >= 47 && y <= 453, `${x} ${y}`)
  }
  const at = { x: 300, y: 100 }
  const point = { x: window.x + (at.x - 500) / window.side, y: window.y + (at.y - 250) / window.side }
  const closer = pixelOf(point, zoomed(window, 2, size, at), size)
  t.ok(Math.hypot(closer.x - at.x, closer.y - at.y) < 1e-6)
  t.strictSame(bounded({ x: -3, y: 9, side: 1 }, size), { x: 0.5, y: 0.75, side: 1000 }, 'no larger than the world')
  const [west = 0, south = 0, east = 0, north = 0] = boxText(window, size).split(',').map(Number)
  t.ok(west < 5 && south < 45 && east > 15 && north > 55)
  const world = bounded({ x: 0.5, y: 0.5, side: 1 }, { width: 1000, height: 1000 })
  t.equal(boxText(world, { width: 1000, height: 1000 }), '-180.000000,-90.000000,180.000000,90.000000')
  const right = moved(window, -100, 0, size)
  t.ok(right.x > window.x && right.y === window.y)
  t.ok(fitted({ west: 5, south: 45, east: 5, north: 45 }, size).side <= 2 ** 21, 'one place has what is around it')
  t.match(scaleBar(world).text, /^\d+\u202fkm$/)
  t.ok(scaleBar(window).width <= 120)
})

t.test('overlapping marks are merged and marks beyond the edge removed', async t => {
  const size = { width: 1000, height: 500 }
  const window = fitted({ west: 0, south: 0, east: 10, north: 5 }, size)
  const silent = {
    counts: { ...noCounts, silent: 2 },
    devices: [{ device: 'c', location_short: '', state: 'silent' as const }],
  }
  const marks = [markAt(1, 1, 'a'), markAt(1.01, 1.01, 'b', silent), markAt(4, 9, 'd'), markAt(80, 9, 'far')]
  const merged = mergedMarks(marks, window, size)
  const texts = merged.map(({ size, devices }) => `${size}: ${devices.map(({ device }) => device).join()}`)
  t.strictSame(texts, ['3: c,a', '1: d'])
  t.strictSame(merged[0]?.extent, { west: 1, south: 1, east: 1.01, north: 1.01 })
  t.equal(merged.map(markText).join('; '), '3 devices: 2 silent, 1 fresh; 1 device: 1 fresh')
  t.equal(merged.map(({ counts }) => worstState(counts)).join(), 'silent,fresh')
  const view = readView(new URLSearchParams('show=map&q= K%C3%BC &state=late,silent'))
  t.equal(view.isMap, true)
  t.equal(mapArguments(view, ['site:a b']), '&q=K%C3%BC&state=silent,late&tag=site%3Aa%20b')
})

t.test('names stand beside their marks where they cover nothing', async t => {
  const size = { width: 1000, height: 500 }
  const window = fitted({ west: 0, south: 0, east: 10, north: 5 }, size)
  const placesOf = (...marks: Mark[]) => namePlaces(mergedMarks(marks, window, size), size.width)
  const right = { isLeft: false, hasRoom: true }
  t.strictSame(placesOf(markAt(2, 2, 'shed'), markAt(4, 2, 'barn')), [right, right])
  t.strictSame(
    placesOf(markAt(2, 2, 'greenhouse'), markAt(2, 2.5, 'barn')),
    [{ ...right, hasRoom: false }, right],
    'the next mark is in the way',
  )
  t.strictSame(placesOf(markAt(2, 10, 'greenhouse')), [{ isLeft: true, hasRoom: true }], 'the edge')
  const two = markAt(2, 2, 'a', { counts: { ...noCounts, fresh: 2 } })
  t.strictSame(placesOf(two), [undefined])
  t.ok(
    placesOf(...Array.from({ length: 13 }, (_, at) => markAt(0.35 * at, (7 * at) % 10, 'a'))).every(
      place => place?.hasRoom !== true,
    ),
    'many',
  )
})

const { onDesk, onPhone } = await pageTests(t)
const server = await openFleetServer(t, madeDevices(60))
server.marks = [
  markAt(52.52, 13.405, 'berlin', {
    extent: { west: 13.3, south: 52.4, east: 13.5, north: 52.6 },
    counts: { ...noCounts, silent: 1, fresh: 6 },
  }),
  markAt(-33.925, 18.425, 'buoy'),
]

onPhone('devices are links on a map where several of them zoom in', async (page, t) => {
  await page.goto(server.url)
  await page.getByRole('combobox', { name: 'Show' }).selectOption('map')
  await page.waitForURL(url => url.search === '?show=map')
  const device = page.getByRole('link', { name: 'buoy, Shed: fresh' })
  await becomes(t, () => device.getAttribute('href'), '/device/buoy')
  await page.getByText('3 devices without coordinates are not on the map.').waitFor()
  await page.locator('.map .land').waitFor({ state: 'attached' })
  await inspect(t, page, 'map')
  const bar = () => page.locator('.scale-bar').innerText()
  const before = await bar()
  await page.getByRole('button', { name: '7 devices: 1 silent, 6 fresh' }).press('Enter')
  await waitFor('the map is closer', async () => (await bar()) !== before)
  await waitFor('it asks for what it shows', () => server.requests.some(url => /map\?box=\d+\.\d{6},5\d/.test(url)))
  await becomes(t, () => device.count(), 0)
  await page.getByRole('button', { name: 'Show all' }).click()
  await device.waitFor()
  await becomes(t, bar, before)
  await page.getByRole('button', { name: 'Zoom in' }).focus()
  await page.keyboard.press('+')
  await waitFor('a key zooms', async () => (await bar()) !== before)
  await page.keyboard.press('-')
  await page.getByText('8 devices within the map, as a list').click()
  await page.locator('.map-list a', { hasText: 'buoy' }).waitFor()
  await page.getByText('6 more devices: zoom in to see their names.').waitFor()
})

onDesk('a mark that comes apart gives the focus to one that is shown then', async (page, t) => {
  const before = server.marks
  t.teardown(() => {
    server.marks = before
  })
  await page.goto(`${server.url}/?show=map`)
  const mark = page.getByRole('button', { name: '7 devices: 1 silent, 6 fresh' })
  await mark.waitFor()
  await mark.focus()
  server.marks = [markAt(52.45, 13.35, 'shed'), markAt(52.55, 13.45, 'pier')]
  // `press` of the mark would look for it again after it is gone.
  await page.keyboard.press('Enter')
  await becomes(t, () => mark.count(), 0)
  await becomes(t, () => page.evaluate('document.activeElement.ariaLabel'), 'shed, Shed: fresh')
  await page.keyboard.press('Tab')
  await becomes(t, () => page.evaluate('document.activeElement.ariaLabel'), 'pier, Shed: fresh')
  const bar = () => page.locator('.scale-bar').innerText()
  const closer = await bar()
  await page.keyboard.press('-')
  await waitFor('keys go on to move the map', async () => (await bar()) !== closer)
})

onDesk('keys go on to move the map after its marks could not be loaded', async (page, t) => {
  await page.goto(`${server.url}/?show=map`)
  await page.getByRole('button', { name: '7 devices: 1 silent, 6 fresh' }).focus()
  await page.route('**/api/fleet/map?*', route => route.abort())
  await page.keyboard.press('+')
  await page.getByText('The map cannot be shown').waitFor()
  await becomes(t, () => page.locator('.mark').count(), 0)
  await page.unroute('**/api/fleet/map?*')
  const bar = () => page.locator('.scale-bar').innerText()
  const closer = await bar()
  await page.keyboard.press('-')
  await waitFor('keys go on to move the map', async () => (await bar()) !== closer)
  await page.locator('.mark').first().waitFor()
})

onPhone('a link to a list has no map, one to a map has marks without links', async (page, t) => {
  const open = async (address: string) => {
    const view = { name: 'Cold stores', address, expires_at: '2030-01-01T00:00:00.000Z' }
    await page.route('**/v1/auth/shared-view', route => route.fulfill({ json: view }))
    await page.goto(`${server.url}/shared#token`)
    await page.reload()
  }
  await open('/')
  await page.getByRole('table').waitFor()
  await becomes(t, () => page.getByRole('combobox', { name: 'Show' }).count(), 0)
  await open('/?show=map')
  const mark = page.locator('.mark', { hasText: 'buoy' })
  await mark.waitFor()
  const colorOf = (selector: string) => page.evaluate(`getComputedStyle(document.querySelector('${selector}')).color`)
  const hasItsColor = async () => (await colorOf('a.mark.fresh')) === (await colorOf('.mark.fresh .shape'))
  await becomes(t, hasItsColor, true, 'in the colour of its state')
  await becomes(t, () => mark.getAttribute('href'), null)
  await page.getByRole('combobox', { name: 'Show' }).selectOption('list')
  await page.getByRole('table').waitFor()
})
