/** Devices with metrics of each kind in a browser: each on its page, and two of them side by side. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { localMinute } from '../../web/charts/range.ts'
import { type Comparison, customOf } from '../../web/pages/compare/answers.ts'
import { createZone } from '../../web/text/zone.ts'
import { becomes, within } from '../support/becomes.ts'
import { charts, inspect, region, spoken, textOf, unfold } from '../support/browser-page.ts'
import { sharedService } from '../support/service.ts'
import { pageTests, showTable } from './page-tests.ts'
import { addMetric, air, dayMs, dayWave, hourMs, minuteMs, type SeedReadings, seed, times } from './seed.ts'
import { press } from './shown-range.ts'

const service = await sharedService(t)
const { onDesk, onPhone } = await pageTests(t)
const { url } = service

const everyMs = 10 * minuteMs
const endMs = Math.floor(Date.now() / everyMs) * everyMs
const hourEndMs = Math.floor(endMs / hourMs) * hourMs
const fiveDays = times(endMs - 5 * dayMs + everyMs, endMs)
const wave = (atMs: number) => dayWave(atMs) + Math.sin(atMs / 1e6) / 8

/** Wind from about north, to both sides of it, and showers of half a millimetre in ten minutes. */
function weather(atMs: number) {
  const hour = ((endMs - atMs) / hourMs) % 24
  return {
    ...air(11 + 5 * wave(atMs), 70 - 15 * wave(atMs), 1012 + wave(atMs / 3)),
    wind_direction: Math.round(360 + 25 * Math.sin(atMs / 3e6) + 12 * wave(atMs)) % 360,
    wind_speed: Math.max(0, 3 + 3 * Math.sin(atMs / 7e6)),
    rain: (hour >= 3 && hour < 5) || (hour >= 16 && hour < 16.5) ? 0.5 : 0,
    illuminance: Math.max(0, 40_000 * wave(atMs)),
  }
}

/** A hundred watts and sometimes a kettle. The total in kWh restarts from 0 twenty hours before the end. */
function meter(atMs: number) {
  const resetMs = endMs - 20 * hourMs
  const [base, sinceMs] = atMs <= resetMs ? [1200, atMs - (endMs - 5 * dayMs)] : [0, atMs - resetMs]
  return { power: atMs % (4 * hourMs) < hourMs ? 900 : 110, energy: base + (0.06 * sinceMs) / everyMs }
}

/** Sends its changes alone: open some three times a day, at last for half an hour until 47 minutes ago. */
const contact = Array.from({ length: 15 }, (_, place) => 14 - place).flatMap(event => {
  const closedMs = endMs - 47 * minuteMs - event * 8.37 * hourMs - (event % 3) * 41 * minuteMs
  const openMs = (30 + ((event * 17) % 23) * 4) * minuteMs
  return [[closedMs - openMs, { door: 1 }] as const, [closedMs, { door: 0 }] as const]
})

/** A mode that comes with each reading, without three hours of today. */
const heating = fiveDays
  .filter(atMs => atMs <= endMs - 9 * hourMs || atMs >= endMs - 6 * hourMs)
  .map(atMs => [atMs, { kinds_mode: Math.floor(atMs / (2.5 * hourMs)) % 4, temperature: 20 + wave(atMs) }] as const)

/** Three days of one of two compared devices. The second one has other values. */
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

for (const name of ['co2', 'wind_direction', 'wind_speed', 'rain', 'illuminance', 'power', 'energy', 'door'])
  await addMetric(service, { name })
await addMetric(service, { name: 'kinds_mode', title: 'Heating mode', kind: 'state', decimals: 0 })
for (const name of probes) {
  await addMetric(service, { name, title: name.replace('kinds_', 'Probe '), unit: 'Cel', decimals: 1 })
}
const withMetrics = (readings: SeedReadings) => ({
  settings: { metrics: Object.keys(readings[0]?.[1] ?? {}) },
  readings,
})
const passwords = await seed(service, {
  'kinds-station': withMetrics(fiveDays.map(atMs => [atMs, weather(atMs)])),
  'kinds-meter': withMetrics(fiveDays.map(atMs => [atMs, meter(atMs)])),
  'kinds-contact': withMetrics(contact),
  'kinds-heating': withMetrics(heating),
  'kinds-ds18b20': withMetrics(fiveDays.map(atMs => [atMs, { temperature: 4 + wave(atMs) }])),
  'kinds-many': withMetrics(times(hourEndMs - 47 * hourMs, hourEndMs, hourMs).map(atMs => [atMs, ofProbes(atMs)])),
  'kinds-roof': { settings: { expected_interval_seconds: 600 }, readings: compared(0) },
  'kinds-porch': { settings: { expected_interval_seconds: 600 }, readings: compared(1) },
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

onDesk('a weather station', async (page, t) => {
  // Whatever the hour is, today has readings.
  await page.route('**/api/past_window_data/*', async route => {
    const response = await route.fetch()
    const past = (await response.json()) as { yesterday: object }
    await route.fulfill({ response, json: { ...past, today: past.yesterday } })
  })
  await openDevice(page, 'kinds-station')
  await becomes(t, () => now(page), /Wind direction\s+[NESW]{1,3}\s+\d+°/, 'an arrow with its words')
  await becomes(t, () => now(page), /Rain\s+[\d.]+ mm\s+[\d.]+ mm today/, 'what has come today')
  const titles = ['Temperature °C', 'Humidity %', 'Pressure hPa', 'Wind direction', 'Wind speed m/s', 'Rain mm']
  await becomes(t, () => panels(page), [...titles, 'Illuminance lx'], 'a chart for each, in the order of the device')
  const kinds = () => textOf(kindsOf(page))
  await becomes(t, kinds, /On average wind direction is (?:N|NNE|NNW) \d+°, and \w+ varies|varies little/)
  await becomes(t, kinds, /Rain sums up to 37\.5 mm since its oldest reading\./)
  await becomes(t, kinds, /The most in an hour was 3\.0 mm/)
  await becomes(
    t,
    () =>
      kindsOf(page)
        .getByRole('img', { name: /^Rose of Wind direction/ })
        .count(),
    1,
  )
  await unfold(region(page, 'Seasonality'))
  await becomes(t, () => says(page, 'Seasonality'), /Wind speed.*Illuminance/s, 'gauges have seasons')
  await unfold(region(page, 'Correlations'))
  await showTable(page, 'Correlations')
  const pairs = page.getByRole('table', { name: 'Correlations of all pairs' })
  await becomes(t, () => textOf(pairs), /illuminance/)
})

onDesk('a meter: increases and resets, never the total as a line', async (page, t) => {
  await openDevice(page, 'kinds-meter')
  await becomes(t, () => now(page), /Energy\s+7\.20 kWh/)
  await showTable(page, 'Readings')
  await becomes(t, () => captions(page), ['Readings, the newest first', 'Increases and sums, the newest first'])
  const rows = page.getByRole('region', { name: /^Increases/ }).locator('tbody tr')
  await becomes(t, () => rows.nth(2).locator('data').innerText(), '0.36', 'of a full hour')
  await becomes(t, () => textOf(kindsOf(page)), /It started again once between .* after 1236\.00 kWh\./)
  await showTable(page, 'Amounts, directions and states')
  await kindsOf(page).getByText('Energy: when it started again').waitFor()
  await charts(page).focus()
  await page.keyboard.press('End')
  // The last value may begin an hour whose increase is unknown.
  const last = await spoken(page)
  await page.keyboard.press('ArrowLeft')
  await becomes(t, () => spoken(page, last), /Power \d+ W, Energy 0\.\d\d kWh \(\d\d:00–\d\d:00\)$/, 'the cursor')
  await press(page, '30 days')
  await becomes(t, () => rows.first().locator('th').innerText(), /^\d+ \w+ \d{4}$/, 'local days')
})

onPhone(
  'a phone: a contact that sends its changes alone, and a device with nothing but a temperature',
  async (page, t) => {
    await openDevice(page, 'kinds-ds18b20')
    await becomes(t, () => panels(page), ['Temperature °C'])
    await becomes(t, () => page.locator('dl.now dt').allInnerTexts(), ['Temperature'])
    await unfold(region(page, 'Seasonality'))
    await becomes(t, () => region(page, 'Seasonality').locator('h3').allInnerTexts(), ['Temperature'])
    for (const other of ['Amounts, directions and states', 'Correlations'])
      await becomes(t, () => region(page, other).count(), 0, other)

    const listening = page.waitForResponse(/\/api\/events/)
    await openDevice(page, 'kinds-contact')
    await listening
    await becomes(t, () => now(page), /Door open\s+off\s+for (?:\d+ min|\d h)/, 'since when')
    await becomes(t, () => panels(page), ['Door open'], 'nothing of what it does not send')
    await becomes(t, () => region(page, 'Seasonality').count(), 0)
    await showTable(page, 'Readings')
    await becomes(t, () => captions(page), ['Door open: states, the newest first'])
    const row = region(page, 'Readings').locator('tbody tr').nth(1).locator('td')
    await becomes(t, () => row.allInnerTexts().then(cells => cells.slice(1)), ['on', '30 minutes'])
    const kinds = () => textOf(kindsOf(page))
    await becomes(t, kinds, /door open was off \(0\) for .* and on \(1\) for \d+ hours/)
    await becomes(t, kinds, /It changed 2[89] times, last from on \(1\) to off \(0\)/)
    await charts(page).focus()
    await page.keyboard.press('End')
    await becomes(t, () => spoken(page), /Door open off \(.*\)$/, 'the cursor')
    await inspect(t, page, 'contact')
    const body = { device: 'kinds-contact', timestamp: new Date(Date.now() - 1000).toISOString(), door: 1 }
    t.equal((await service.put('kinds-contact', passwords['kinds-contact'] ?? '', body)).status, 200)
    await becomes(t, () => now(page), /Door open\s+on\s+for \d+ (?:s|min)/, 'a change that comes')
  },
)

onDesk('a mode has four states among twelve of 14 metrics', async (page, t) => {
  await openDevice(page, 'kinds-heating')
  const panel = page.locator('.panel', { hasText: 'Heating mode' })
  await becomes(t, () => textOf(panel.locator('.panel-values')), /0\s*1\s*2\s*3/)
  await becomes(t, () => textOf(kindsOf(page)), /state \d for .*its state is not known\./s)
  await press(page, '7 days')
  await becomes(t, () => textOf(panel), /share of each hour/)

  const asking = page.waitForRequest(/\/api\/detail_data\/kinds-many/)
  await openDevice(page, 'kinds-many')
  t.match((await asking).url(), /metrics=kinds_01,.*kinds_12$/)
  await becomes(t, () => page.locator('dl.now').first().locator('dt').count(), 12)
  await page.getByText('2 more values').click()
  await page.locator('dl.now').getByText('Probe 14').waitFor()
  await becomes(t, () => page.locator('canvas').count(), 12)
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
async function comparison(): Promise<Comparison> {
  const answer = await fetch(`${url}/api/compare_data?a=kinds-roof&b=kinds-porch&preset=3d&t=1`)
  return (await answer.json()) as Comparison
}

onPhone('a phone: every metric that both have, by its kind', async (page, t) => {
  await page.goto(`${url}${pair}`)
  const reads = (section: string, pattern: RegExp) => becomes(t, () => says(page, section), pattern, section)
  await reads('CO₂', /kinds-roof reads 40 ppm less than kinds-porch on average\./)
  await reads('Wind direction', /kinds-roof points 20° anticlockwise of kinds-porch on average\./)
  await reads('Rain in total: increase by hour', /kinds-roof has 1\.0 mm less an hour than kinds-porch on average\./)
  await reads('Rain: sum by hour', /kinds-roof and kinds-porch have the same on average\./)
  await reads('Door open', /Both were in the same state 0 % of the 3 days/)
  await reads('Door open', /off\s+50 %\s*1 day 12 hours/)
  await becomes(t, () => region(page, 'Pressure').count(), 0, 'what neither has is not there')
  await showTable(page, 'Wind direction')
  const { metric } = customOf(await comparison()).find(one => one.name === 'wind_direction') ?? {}
  const newest = metric !== undefined && 'diff' in metric ? metric.diff.at(-1)?.v : undefined
  const cell = region(page, 'Wind direction').locator('tbody tr td data').nth(2)
  await becomes(t, () => cell.getAttribute('value'), String(newest))
  await inspect(t, page, 'compare by kind')
})

onDesk('devices are chosen by name and compared hours by date', async (page, t) => {
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
  await press(page, 'Dates')
  const [fromMs, toMs] = [hourEndMs - 48 * hourMs, hourEndMs - 24 * hourMs]
  await page.getByLabel('From', { exact: true }).fill(localMinute(fromMs, createZone('UTC')))
  await page.getByLabel('To', { exact: true }).fill(localMinute(toMs, createZone('UTC')))
  await press(page, 'Show')
  const doors = () => says(page, 'Door open')
  await becomes(t, doors, /Both were in the same state 0 % of the (?:1 day|24 hours) in which both are known/)
  t.equal(Date.parse(new URL(page.url()).searchParams.get('from') ?? ''), fromMs)
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
  const columns = [
    'temperature_mean',
    'co2_mean',
    'wind_direction_mean',
    'rain_total_increase',
    'rain_sum',
    'door_last',
  ]
  t.strictSame(
    columns.filter(column => !before[0]?.split(',').includes(column)),
    [],
  )
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
  const readings = region(page, 'Readings')
  await becomes(t, () => textOf(readings.locator('thead').first()), within('Temperature, °F'))
  await becomes(t, () => textOf(readings.locator('tbody th').first()), /GMT\+9/)
  await becomes(t, () => says(page, 'Today and earlier days'), within('Temperature, °F'))
})
