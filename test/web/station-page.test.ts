/** The page of an air-quality station in a browser, on the whole service with its databases. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { becomes } from '../support/becomes.ts'
import { inspect, region, textOf } from '../support/browser-page.ts'
import { makeStationKey } from '../support/people.ts'
import { sharedService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'
import { pageTests, showTable } from './page-tests.ts'
import { dayMs, dayWave, hourMs, minuteMs, times } from './seed.ts'

const stepMs = 10 * minuteMs

const service = await sharedService(t)
const { onDesk, onPhone } = await pageTests(t)
const { url } = service
const key = await makeStationKey(url, service.admin)

async function addStation(fields: object): Promise<void> {
  const { status } = await service.admin('POST', '/stations', { model: 'M4', ...fields })
  if (status !== 201) throw new Error(`no station was added: ${status}`)
}

const place = { city: 'Delhi', country: 'IN', location: 'roof of the library', latitude: 28.62571, longitude: -77.209 }
await addStation({ sn: 'WEB-1', ...place, outdoors: true, timezone: 'Asia/Kolkata' })
await addStation({ sn: 'WEB-HIDDEN', private: true })
await addStation({ sn: 'WEB-PPM' })
await addStation({ sn: 'WEB-NEW', timezone: 'Asia/Kolkata' })

const lastMs = Math.floor(Date.now() / stepMs) * stepMs
const massFromMs = lastMs - 5 * hourMs
const pointAt = (atMs: number, parameter: string, unit: string, value: number) => {
  return { timestamp: new Date(atMs).toISOString().slice(0, 19), parameter, unit, value }
}

/** Three days: particles of a daily cycle, ozone in µg/m³ for an hour, and carbon monoxide alternating between ppm and ppb. */
const points = times(lastMs - 3 * dayMs, lastMs).flatMap(atMs => {
  const wave = dayWave(atMs) + Math.sin(atMs) / 10
  const isMass = atMs >= massFromMs && atMs < massFromMs + hourMs
  const isPpm = (atMs / stepMs) % 2 === 0 || atMs === lastMs
  return [
    pointAt(atMs, 'pm25', 'ugm3', 60 + 20 * wave),
    pointAt(atMs, 'o3', isMass ? 'ugm3' : 'ppb', 30 - 8 * wave),
    pointAt(atMs, 'co', isPpm ? 'ppm' : 'ppb', isPpm ? 1.5 : 1400),
  ]
})

const changedMs = Math.floor(lastMs / dayMs) * dayMs - 39 * dayMs
const changedPoints = [
  ...times(changedMs - dayMs, changedMs - hourMs, hourMs).map(atMs => pointAt(atMs, 'no2', 'ppm', 0.021)),
  ...times(lastMs - dayMs, lastMs, hourMs).map(atMs => pointAt(atMs, 'no2', 'ppb', 35)),
]

const headers = {
  authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
  'content-type': 'application/json',
}
async function send(sn: string, points: readonly object[]): Promise<void> {
  const body = JSON.stringify(points)
  const { status } = await fetch(`${url}/api/v1.0/device/${sn}/data/`, { method: 'POST', headers, body })
  if (status !== 201) throw new Error(`the points were answered ${status}`)
  // Before that, an answer with a part of them would be cached for a minute.
  await waitFor('the points are applied', async () => {
    const newest = await fetch(`${url}/api/v1.0/device/${sn}/latest`, { headers })
    const { timestamp } = (await newest.json()) as { timestamp?: string }
    return timestamp === new Date(lastMs).toISOString().slice(0, 19)
  })
}

await send('WEB-1', points)
await send('WEB-PPM', changedPoints)

async function openStation(page: Page, sn: string, search = ''): Promise<void> {
  await page.goto(`${url}/station/${sn}${search}`)
  await page.locator('.device-head .state').waitFor()
}

onPhone('measurements of a station and their meaning', async (page, t) => {
  await openStation(page, 'WEB-1')
  for (const part of ['Readings', 'Today and earlier days', 'Completeness', 'Seasonality']) {
    await region(page, part).waitFor()
  }
  await becomes(t, () => page.title(), 'WEB-1 – Barograph')
  await becomes(t, () => textOf(page.locator('.device-head')), /Delhi, India: roof of the library/)
  const facts = () => textOf(page.locator('.station-facts'))
  await becomes(t, facts, /M4.*outdoors.*28\.6257° N, 77\.2090° W.*Asia\/Kolkata/s)
  const now = () => textOf(page.locator('dl.now'))
  await becomes(t, now, /PM2\.5\s+[\d.]+ µg\/m³/)
  await becomes(t, now, /Carbon monoxide\s+1\.5 ppm/)
  await becomes(t, now, /^(?!.*(?:Temperature|Battery|Sulphur))/s)
  const leftOut = () => textOf(page.locator('.left-out'))
  await becomes(t, leftOut, /are left out/)
  await becomes(t, leftOut, /Ozone: 6 points in µg\/m³, while ppb is shown/)
  await becomes(t, leftOut, /^(?!.*Carbon)/s)
  await becomes(t, () => textOf(region(page, 'Completeness')), /10 minutes/)
  await inspect(t, page, 'a station')
  await page.getByRole('button', { name: '7 days', exact: true }).click()
  const readings = region(page, 'Readings')
  await showTable(page, 'Readings')
  await becomes(t, () => readings.locator('table').first().locator('thead').innerText(), /Ozone.*PM2\.5/s)
  const address = await page.getByRole('link', { name: 'Download as CSV' }).getAttribute('href')
  const csv = await (await fetch(new URL(address ?? '', url))).text()
  t.match(csv, /^timestamp,device,o3,co,pm25\r\n\d{4}-.*,WEB-1,/, 'another range is read of the points')
})

onDesk('omitted series stay during the next read and its failure', async (page, t) => {
  await page.clock.install()
  await openStation(page, 'WEB-1')
  const leftOut = page.locator('.left-out')
  await becomes(t, () => textOf(leftOut), /Ozone: 6 points/)
  let asked = 0
  const answers = Promise.withResolvers<void>()
  await page.route('**/api/stations/WEB-1/units?*', async route => {
    asked++
    await answers.promise
    await route.fulfill({ status: 503, json: { status: 'the database is away' } })
  })
  await page.clock.fastForward(minuteMs)
  await becomes(t, async () => asked > 0, true, 'the next minute is asked for')
  t.match(await textOf(leftOut), /Ozone: 6 points/)
  answers.resolve()
  await becomes(t, () => textOf(page.locator('main')), /cannot read its data at the moment \(the database is away\)/)
  await page.unroute('**/api/stations/WEB-1/units?*')
  await page.clock.fastForward(2 * minuteMs)
  await becomes(t, () => textOf(leftOut), /Ozone: 6 points/)
})

onDesk('a unit belongs to the numbers of its own response', async (page, t) => {
  const address = (atMs: number) => `${new Date(atMs).toISOString().slice(0, 16)}Z`
  await openStation(page, 'WEB-PPM', `?from=${address(changedMs - dayMs)}&to=${address(changedMs)}`)
  const readings = region(page, 'Readings')
  await showTable(page, 'Readings')
  const table = readings.locator('table').first()
  await becomes(t, () => textOf(table), /Nitrogen dioxide[^\n]*, ppm/)
  await becomes(t, () => textOf(table.locator('tbody tr').first()), /0\.021/)
  await becomes(t, () => textOf(page.locator('dl.now')), /35 ppb/)
})

onDesk('a station without points, a forbidden one, and an unknown one', async (page, t) => {
  await openStation(page, 'WEB-NEW')
  await becomes(t, () => textOf(page.locator('.device-head')), /never/)
  await becomes(t, () => textOf(page.locator('main')), /There is no reading yet/)
  for (const sn of ['WEB-HIDDEN', 'WEB-NONE']) {
    await page.goto(`${url}/station/${sn}`)
    await becomes(t, () => page.locator('h1').innerText(), 'No such station')
  }
})
