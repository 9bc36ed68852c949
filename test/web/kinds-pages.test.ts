/** Devices with metrics of each kind in a browser: each on its page, and two of them side by side. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { type Comparison, furtherOf } from '../../web/pages/compare/answers.ts'
import { becomes, within } from '../support/becomes.ts'
import { charts, inspect, region, spoken, textOf, unfold } from '../support/browser-page.ts'
import { sharedService } from '../support/service.ts'
import { press } from '../support/shown-range.ts'
import { pageTests, showTable } from './page-tests.ts'
import { addMetric, air, dayMs, dayWave, hourMs, minuteMs, type SeedReadings, seed, times } from './seed.ts'

const service = await sharedService(t)
const { onDesk, onPhone } = await pageTests(t)
const { url } = service

const endMs = Math.floor(Date.now() / (10 * minuteMs)) * 10 * minuteMs
const hourEndMs = Math.floor(endMs / hourMs) * hourMs
const wave = (atMs: number) => dayWave(atMs) + Math.sin(atMs / 1e6) / 8

/** A metric of each kind; the total of energy starts again from 0 twenty hours before the end. */
function station(atMs: number) {
  const resetMs = endMs - 20 * hourMs
  return {
    ...air(11 + 5 * wave(atMs), 70 - 15 * wave(atMs)),
    wind_direction: Math.round(360 + 25 * Math.sin(atMs / 3e6)) % 360,
    wind_speed: Math.max(0, 3 + 3 * Math.sin(atMs / 7e6)),
    rain: atMs % dayMs < 2 * hourMs ? 0.5 : 0,
    energy: atMs <= resetMs ? 1200 : (0.36 * (atMs - resetMs)) / hourMs,
    kinds_mode: Math.floor(atMs / (2.5 * hourMs)) % 4,
  }
}

/** Sends its changes alone: open for half an hour three times a day, at last until 47 minutes ago. */
const contact = Array.from({ length: 9 }, (_, place) => 8 - place).flatMap(event => {
  const closedMs = endMs - 47 * minuteMs - event * 8 * hourMs
  return [[closedMs - 30 * minuteMs, { door: 1 }] as const, [closedMs, { door: 0 }] as const]
})

/** Three days of one of two devices that are compared; the second one has other values. */
function compared(place: number): SeedReadings {
  return times(hourEndMs - 3 * dayMs, hourEndMs).map(atMs => {
    const hours = (atMs - hourEndMs) / hourMs + 72
    const ofDay = Math.sin((2 * Math.PI * hours) / 24)
    const values = {
      temperature: 20 + ofDay,
      humidity: 50,
      co2: 600 + 100 * ofDay + 40 * place,
      wind_direction: (350 + 20 * place + 5 * ofDay) % 360,
      rain_total: Number((hours * (1 + place)).toFixed(2)),
      rain: hours % 2 < 1 ? 0.2 : 0,
      door: Math.floor(hours / 6) % 2 === place ? 1 : 0,
    }
    return [atMs, values]
  })
}

const probes = Array.from({ length: 14 }, (_, place) => `kinds_${String(place + 1).padStart(2, '0')}`)
const ofProbes = (atMs: number) => Object.fromEntries(probes.map((name, place) => [name, place + wave(atMs)]))

for (const name of ['co2', 'wind_direction', 'wind_speed', 'rain', 'energy', 'door']) await addMetric(service, { name })
await addMetric(service, { name: 'kinds_mode', title: 'Heating mode', kind: 'state', decimals: 0 })
for (const name of probes) {
  await addMetric(service, { name, title: name.replace('kinds_', 'Probe '), unit: 'Cel', decimals: 1 })
}
const withMetrics = (readings: SeedReadings) => ({
  settings: { metrics: Object.keys(readings[0]?.[1] ?? {}) },
  readings,
})
const settings = { expected_interval_seconds: 600 }
const passwords = await seed(service, {
  'kinds-station': withMetrics(times(endMs - 3 * dayMs, endMs).map(atMs => [atMs, station(atMs)])),
  'kinds-contact': withMetrics(contact),
  'kinds-many': withMetrics(times(hourEndMs - 47 * hourMs, hourEndMs, hourMs).map(atMs => [atMs, ofProbes(atMs)])),
  'kinds-roof': { settings, readings: compared(0) },
  'kinds-porch': { settings, readings: compared(1) },
})

async function openDevice(page: Page, name: string): Promise<void> {
  await page.goto(`${url}/device/${name}`)
  await page.locator('.device-head .state').waitFor()
  for (const part of ['Readings', 'Today and earlier days', 'Completeness']) await region(page, part).waitFor()
}

const says = (page: Page, section: string) => textOf(region(page, section))
const now = (page: Page) => textOf(page.locator('dl.now'))
const panels = (page: Page) => page.locator('.panel h3').allInnerTexts()
const captions = (page: Page) => region(page, 'Readings').locator('table caption').allInnerTexts()
const kindsOf = (page: Page) => region(page, 'Amounts, directions and states')

onDesk('a station has a chart, a table, a sentence and a value for each metric, by its kind', async (page, t) => {
  // Whatever the hour is, today has readings.
  await page.route('**/api/past_window_data/*', async route => {
    const response = await route.fetch()
    const past = (await response.json()) as { yesterday: object }
    await route.fulfill({ response, json: { ...past, today: past.yesterday } })
  })
  await openDevice(page, 'kinds-station')
  await becomes(t, () => now(page), /Wind direction\s+[NESW]{1,3}\s+\d+°/, 'an arrow with its words')
  await becomes(t, () => now(page), /Rain\s+[\d.]+ mm\s+6\.0 mm today/, 'what has come today')
  await becomes(t, () => now(page), /Energy\s+7\.20 kWh/)
  const titles = ['Temperature °C', 'Humidity %', 'Pressure hPa', 'Wind direction', 'Wind speed m/s', 'Rain mm']
  await becomes(t, () => panels(page), [...titles, 'Energy kWh', 'Heating mode'], 'in the order of the device')
  const mode = page.locator('.panel', { hasText: 'Heating mode' })
  await becomes(t, () => textOf(mode.locator('.panel-values')), /0\s*1\s*2\s*3/)
  const kinds = () => textOf(kindsOf(page))
  await becomes(t, kinds, /On average wind direction is (?:N|NNE|NNW) \d+°/)
  await becomes(t, kinds, /It started again once between .* after 1200\.00 kWh\./)
  await kindsOf(page)
    .getByRole('img', { name: /^Rose of Wind direction/ })
    .waitFor()
  await showTable(page, 'Amounts, directions and states')
  await kindsOf(page).getByText('Energy: when it started again').waitFor()
  await unfold(region(page, 'Seasonality'))
  await becomes(t, () => says(page, 'Seasonality'), /Wind speed/, 'gauges have seasons')
  await unfold(region(page, 'Correlations'))
  await showTable(page, 'Correlations')
  await becomes(t, () => textOf(page.getByRole('table', { name: 'Correlations of all pairs' })), /wind speed/)
  await showTable(page, 'Readings')
  const increases = 'Increases and sums, the newest first'
  const states = 'Heating mode: states, the newest first'
  await becomes(t, () => captions(page), ['Readings, the newest first', increases, states])
  await charts(page).focus()
  await page.keyboard.press('End')
  // The last value may begin an hour of which no increase is known yet.
  const last = await spoken(page)
  await page.keyboard.press('ArrowLeft')
  await becomes(t, () => spoken(page, last), /Energy 0\.\d\d kWh \(\d\d:00–\d\d:00\), /, 'the cursor')
  await press(page, '7 days')
  await becomes(t, () => textOf(mode), /share of each hour/)
  await press(page, '30 days')
  const row = page
    .getByRole('region', { name: /^Increases/ })
    .locator('tbody th')
    .first()
  await becomes(t, () => row.innerText(), /^\d+ \w+ \d{4}$/, 'local days')
})

onPhone('a contact that sends its changes alone shows since when it is closed, and nothing else', async (page, t) => {
  const listening = page.waitForResponse(/\/api\/events/)
  await openDevice(page, 'kinds-contact')
  await listening
  await becomes(t, () => now(page), /Door open\s+off\s+for (?:\d+ min|\d h)/, 'since when')
  await becomes(t, () => panels(page), ['Door open'])
  for (const other of ['Seasonality', 'Correlations']) await becomes(t, () => region(page, other).count(), 0, other)
  await showTable(page, 'Readings')
  const row = region(page, 'Readings').locator('tbody tr').nth(1).locator('td')
  await becomes(t, () => row.allInnerTexts().then(cells => cells.slice(1)), ['on', '30 minutes'])
  await becomes(t, () => textOf(kindsOf(page)), /It changed 16 times, last from on \(1\) to off \(0\)/)
  await inspect(t, page, 'contact')
  const body = { device: 'kinds-contact', timestamp: new Date(Date.now() - 1000).toISOString(), door: 1 }
  t.equal((await service.put('kinds-contact', passwords['kinds-contact'] ?? '', body)).status, 200)
  await becomes(t, () => now(page), /Door open\s+on\s+for \d+ (?:s|min)/, 'a change that comes')
})

onDesk('of 14 metrics twelve are shown until others are chosen', async (page, t) => {
  const asking = page.waitForRequest(/\/api\/detail_data\/kinds-many/)
  await openDevice(page, 'kinds-many')
  t.match((await asking).url(), /metrics=kinds_01,.*kinds_12$/)
  await becomes(t, () => region(page, 'Amounts, directions and states').count(), 0, 'gauges have none')
  await becomes(t, () => page.locator('dl.now').first().locator('dt').count(), 12)
  await page.getByText('2 more values').click()
  await page.locator('dl.now').getByText('Probe 14').waitFor()
  await page.getByText('12 of 14 metrics are shown').click()
  await page.getByLabel('Probe 01', { exact: true }).uncheck()
  await page.getByLabel('Probe 14', { exact: true }).check()
  await becomes(t, async () => (await panels(page)).at(-1), 'Probe 14 °C')
  await page.waitForURL(/metrics=kinds_02.*kinds_14/)
  await inspect(t, page, 'many')

  const comparing = page.waitForRequest(/\/api\/compare_data/)
  await page.goto(`${url}/compare?a=kinds-many&b=kinds-many&preset=24h`)
  t.match((await comparing).url(), /&metrics=kinds_01,.*kinds_12$/)
  await region(page, 'Probe 12').waitFor()
  await page.getByText('12 of 14 metrics are shown').waitFor()
})

const pair = '/compare?a=kinds-roof&b=kinds-porch&preset=3d'

onPhone('two devices are compared by every metric that both have', async (page, t) => {
  await page.goto(`${url}${pair}`)
  for (const [section, sentence] of [
    ['CO₂', 'kinds-roof reads 40 ppm less than kinds-porch on average.'],
    ['Wind direction', 'kinds-roof points 20° anticlockwise of kinds-porch on average.'],
    ['Rain in total: increase by hour', 'kinds-roof has 1.0 mm less an hour than kinds-porch on average.'],
    ['Rain: sum by hour', 'kinds-roof and kinds-porch have the same on average.'],
    ['Door open', 'Both were in the same state 0 % of the 3 days'],
  ] as const) {
    await becomes(t, () => says(page, section), within(sentence), section)
  }
  await becomes(t, () => says(page, 'Door open'), /off\s+50 %\s*1 day 12 hours/)
  await becomes(t, () => region(page, 'Pressure').count(), 0, 'neither has it')
  await showTable(page, 'Wind direction')
  const answer = await fetch(`${url}/api/compare_data?a=kinds-roof&b=kinds-porch&preset=3d&t=1`)
  const further = furtherOf((await answer.json()) as Comparison)
  const { metric } = further.find(({ name }) => name === 'wind_direction') ?? {}
  const newest = metric !== undefined && 'diff' in metric ? metric.diff.at(-1)?.v : undefined
  const cell = region(page, 'Wind direction').locator('tbody tr td data').nth(2)
  await becomes(t, () => cell.getAttribute('value'), String(newest))
  await inspect(t, page, 'compare by kind')
})

onDesk('devices are chosen by name, and dates of the address are compared', async (page, t) => {
  await page.goto(`${url}/compare?a=kinds-roof`)
  await page.getByText('Choose two devices.').waitFor()
  const second = page.getByLabel('Second device')
  await second.pressSequentially('kinds-porc')
  await becomes(t, () => second.inputValue(), 'kinds-porc', 'what was typed stays')
  await page.locator('datalist option[value=kinds-porch]').first().waitFor({ state: 'attached' })
  await second.pressSequentially('h')
  await second.press('Enter')
  await page.waitForURL(found => found.searchParams.get('b') === 'kinds-porch')
  await region(page, 'Temperature').waitFor()
  const address = [48, 24].map(hours => new Date(hourEndMs - hours * hourMs).toISOString().slice(0, 16))
  await page.goto(`${page.url()}&from=${address[0]}Z&to=${address[1]}Z`)
  const doors = () => says(page, 'Door open')
  await becomes(t, doors, /Both were in the same state 0 % of the (?:1 day|24 hours) in which both are known/)
  await press(page, '3 days')
  await becomes(t, doors, /0 % of the 3 days/)
})

onDesk('in other units and another zone files stay as they are measured, values and times follow', async (page, t) => {
  await page.goto(`${url}${pair}`)
  const link = page.getByRole('link', { name: 'Download kinds-porch by hour as CSV' })
  const linesOf = async () => {
    const file = await fetch(new URL((await link.getAttribute('href')) ?? '', url))
    return (await file.text()).trim().split('\r\n')
  }
  await link.waitFor()
  const before = await linesOf()
  const kinds = ['temperature_mean', 'wind_direction_mean', 'rain_total_increase', 'rain_sum', 'door_last']
  for (const column of kinds) t.ok(before[0]?.split(',').includes(column), column)
  t.equal(before.length, 1 + 72)
  await becomes(t, () => page.locator('.file-note').count(), 0)
  await press(page, 'Units')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Temperature', { exact: true }).selectOption({ label: '°F' })
  await dialog.getByLabel('Times', { exact: true }).selectOption('Asia/Tokyo')
  await press(page, 'Close')
  await becomes(t, () => says(page, 'Temperature'), within('°F'))
  await page.locator('.file-note').waitFor()
  await becomes(t, linesOf, before, 'the same file')

  await openDevice(page, 'kinds-roof')
  await becomes(t, () => now(page), /Temperature\s+6[68]\.\d °F/)
  await becomes(t, () => textOf(page.locator('.zone-note')), /zone Asia\/Tokyo\. .* UTC, the zone of the service/)
  await showTable(page, 'Readings')
  await becomes(t, () => textOf(region(page, 'Readings').locator('tbody th').first()), /GMT\+9/)
  await becomes(t, () => says(page, 'Today and earlier days'), within('Temperature, °F'))
})
