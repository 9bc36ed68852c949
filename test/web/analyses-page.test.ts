/** Analyses on the page of a device in a browser: devices, texts, anomalies and forecasts. */

import type { Page } from 'playwright-core'
import t from 'tap'
import type { Anomalies } from '../../query/shapes/anomalies.ts'
import type { Forecast } from '../../query/shapes/forecast.ts'
import {
  analysesArgument,
  analysesQuery,
  analysesWords,
  readAnalysesRange,
} from '../../web/pages/device/analyses-range.ts'
import { becomes } from '../support/becomes.ts'
import { charts, inspect, region, spoken, textOf, unfold } from '../support/browser-page.ts'
import { sharedService } from '../support/service.ts'
import { pageTests, showTable } from './page-tests.ts'
import { addMetric, air, dayMs, dayWave, hourMs, minuteMs, requestsOf, seed, times } from './seed.ts'
import { press } from './shown-range.ts'

const service = await sharedService(t)
const { onDesk, onPhone } = await pageTests(t)
const { url } = service
/** The time of the last reading. Its hour has begun, so that it has one. */
const endMs = Math.floor(Date.now() / (10 * minuteMs)) * 10 * minuteMs

/** Frost at night: a daily cycle with a part that cannot be forecast. */
function yardAt(atMs: number) {
  const wave = dayWave(atMs) + 0.2 * Math.sin(atMs / 4e7) + 0.05 * Math.sin(atMs)
  return { ...air(2 + 4 * wave, 60 - 10 * wave, 950 + wave), co2: 700 + 200 * wave }
}

/** Twelve days with spikes at irregular times, and without four hours of the day before yesterday. */
const spikes = 30
const spikeHours = new Set(Array.from({ length: spikes + 1 }, (_, index) => 2 + 9 * index + ((5 * index ** 2) % 7)))
const odd = times(endMs - 288 * hourMs, endMs).flatMap(atMs => {
  const ageMs = endMs - atMs
  const spike = spikeHours.has(ageMs / hourMs)
  const wave = dayWave(atMs) + Math.sin(atMs) / 20
  const isOut = ageMs > 40 * hourMs && ageMs < 44 * hourMs
  return isOut ? [] : [[atMs, air(12 + 5 * wave + (spike ? 20 : 0), 60 - 10 * wave)] as const]
})

const settings = { expected_interval_seconds: 600 }
const profile = { profile: 'weather', altitude_m: 540, metrics: ['temperature', 'humidity', 'pressure', 'co2'] }
await addMetric(service, { name: 'co2' })
await seed(service, {
  'analyses-yard': {
    settings: { ...settings, ...profile },
    readings: times(endMs - 24 * dayMs, endMs).map(atMs => [atMs, yardAt(atMs)]),
  },
  'analyses-odd': { settings, readings: odd },
  'analyses-plain': { settings, readings: [[endMs, air(20)]] },
})

async function open(page: Page, device: string, search = ''): Promise<void> {
  await page.goto(`${url}/device/${device}${search}`)
  await region(page, 'Readings').locator('canvas').first().waitFor()
}

/** A busy service refuses an analysis at first, and the page asks again. */
const answerTo = (page: Page, path: string) =>
  page.waitForResponse(response => response.ok() && response.url().includes(path))
const minute = (atMs: number) => `${new Date(atMs).toISOString().slice(0, 16)}Z`
const dates = (fromDay: number, toDay: number) =>
  `?analyses=charts&from=${minute(endMs - fromDay * dayMs)}&to=${minute(endMs - toDay * dayMs)}`
const legends = (page: Page) => page.locator('.panel .key.ahead').allInnerTexts()
const legend = 'forecast, 80 %'

onDesk('a desk: charts of 24 hours continue with a forecast beside usual values', async (page, t) => {
  const answered = answerTo(page, '/api/forecast/analyses-yard')
  await open(page, 'analyses-yard')
  await becomes(t, () => legends(page), Array(4).fill(legend), 'each gauge has one')
  await becomes(t, () => page.locator('.panel .swatch-key').allInnerTexts(), Array(4).fill('usual'))
  await page.getByText('Dashed lines are a forecast of hourly means').waitFor()
  const usual = String.raw`last full hour: (?:usual|(?:higher|lower) than on \d+ of \d+ days)`
  for (const name of ['Temperature', 'Humidity', 'Pressure', 'CO₂']) {
    const value = page.locator('dl.now > div', { has: page.getByText(name, { exact: true }) })
    await becomes(t, () => textOf(value), new RegExp(`^${name}\\s.*${usual}`, 's'), name)
  }
  await charts(page).focus()
  await page.keyboard.press('End')
  const newest = await spoken(page)
  t.match(newest, /: Temperature −?[\d.]+ °C, /, 'it begins at the newest reading')
  await page.keyboard.press('End')
  const actual =
    /: Temperature forecast, 80 % −?[\d.]+ °C \(−?[\d.]+ to −?[\d.]+\), .*CO₂ forecast, 80 % \d+ ppm \(\d+ to \d+\)$/
  await becomes(t, () => spoken(page, newest), actual)
  await showTable(page, 'Readings')
  const row = page
    .getByRole('table', { name: /^Forecast/ })
    .locator('tbody tr')
    .first()
  const shown = () => row.locator('data').evaluateAll(cells => cells.slice(0, 3).map(({ value }) => Number(value)))
  const [first] = ((await (await answered).json()) as Forecast).temperature.hours
  await becomes(t, shown, [first?.median, first?.low80, first?.high80])
  await press(page, '7 days')
  await becomes(t, () => legends(page), [], 'other ranges have none')
})

onPhone('a phone: the subject of analyses is chosen and in the address', async (page, t) => {
  const asked = requestsOf(page)
  await open(page, 'analyses-yard')
  const [weather, seasonality] = [region(page, 'Weather'), region(page, 'Seasonality')]
  await weather.waitFor()
  t.notOk(asked.find(({ pathname }) => pathname.startsWith('/api/domain/')))
  await unfold(weather)
  await becomes(t, () => textOf(weather), /It was below 0\.0 °C in \d+ of \d+ hours\./, 'frost')
  await becomes(t, () => textOf(weather), /In \d+ days: heating \d+ K·d/, 'degree days')
  await unfold(seasonality)
  await becomes(t, () => textOf(seasonality), /Cycles and trend of each metric in the readings so far/)
  // Its label has the texts of the options too, and is no exact name of it.
  await page.getByRole('combobox', { name: 'Analyses of', exact: true }).selectOption('the last 7 days')
  await becomes(t, () => textOf(seasonality), /Cycles and trend of each metric in the last 7 days/)
  t.equal(new URL(page.url()).searchParams.get('analyses'), '7d')
  await becomes(t, () => textOf(weather), /of the last 7 days\./)
  await becomes(t, () => textOf(region(page, 'Unusual readings')), /in the last 7 days/)
  await inspect(t, page, 'analyses')
  await page.goto(`${url}/device/analyses-yard${dates(40, 35)}`)
  await becomes(t, () => textOf(seasonality), /There are no readings in the range of the charts\./)
  await page.goto(`${url}/device/analyses-yard${dates(3, 2)}`)
  await unfold(seasonality)
  await becomes(t, () => textOf(seasonality), /Daily cycles need 3 days of readings; there is 1\./)
})

onDesk('each section opens, closes and has the chosen dates', async (page, t) => {
  const asked = requestsOf(page)
  await page.goto(`${url}/device/analyses-yard${dates(11, 4)}`)
  for (const name of ['Weather', 'Unusual readings', 'Completeness', 'Seasonality', 'Correlations']) {
    const section = region(page, name)
    await unfold(section)
    await section.locator('summary').click()
    await becomes(t, () => section.locator('details[open]').count(), 0, name)
    await unfold(section)
  }
  await becomes(
    t,
    () => textOf(region(page, 'Seasonality')),
    /Cycles and trend of each metric in the readings in the range of the charts/,
  )
  const read = asked.filter(({ pathname }) => /^\/api\/(?:domain|anomalies)\//.test(pathname))
  const starts = new Set(read.map(({ searchParams }) => searchParams.get('start')))
  t.strictSame([...starts], [String(Date.parse(minute(endMs - 11 * dayMs)))])
})

onDesk('anomalies are read when unfolded, newest first, page by page', async (page, t) => {
  const answer = await fetch(`${url}/api/anomalies/analyses-odd`)
  const { anomalies_total: total } = (await answer.json()) as Pick<Anomalies, 'anomalies_total'>
  t.ok(total >= spikes)
  const asked = requestsOf(page)
  const pages = () => asked.filter(({ pathname }) => pathname.startsWith('/api/anomalies/')).length
  const forecast = answerTo(page, '/api/forecast/analyses-odd')
  await open(page, 'analyses-odd')
  t.match(await (await forecast).json(), { temperature: { hours: [], reason: 'short_history' } })
  const section = region(page, 'Unusual readings')
  t.equal(pages(), 0, 'nothing is read while it is folded')
  await unfold(section)
  const entries = section.locator('.anomalies li')
  await becomes(t, () => entries.count(), 20, 'a page')
  const says = /^Temperature had a spike at .*: \d\d\.\d °C, expected −?[\d.]+ °C to [\d.]+ °C\. In the charts$/
  await becomes(t, () => textOf(entries.first()), says, 'the newest')
  await becomes(t, () => textOf(section), /No readings for 4 hours from/, 'the outage')
  await inspect(t, page, 'anomalies')
  await section.getByRole('button', { name: 'Show more' }).click()
  await becomes(t, () => entries.count(), total, 'all of them')
  await becomes(t, () => section.getByRole('button', { name: 'Show more' }).count(), 0, 'there are no more')
  t.equal(pages(), 2, 'a page each')
  await becomes(t, () => legends(page), [], 'of twelve days there is no forecast')
  await entries.last().getByRole('link').click()
  await page.waitForURL(/[?&]from=.*&to=/)
  await page.goto(`${url}/device/analyses-plain`)
  await unfold(section)
  await becomes(t, () => textOf(section), /There are none\.$/, 'the sentence')
  await becomes(t, () => region(page, 'Weather').count(), 0, 'a device without a profile has no figures by one')
})

onDesk('a silent device has neither a forecast nor usual values', async (page, t) => {
  const asked = requestsOf(page)
  await page.route('**/api/latest/analyses-yard*', async route => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), state: 'silent' } })
  })
  const answered = answerTo(page, '/api/normal/analyses-yard')
  await open(page, 'analyses-yard')
  await page.locator('.device-head').getByText('silent').waitFor()
  await answered
  t.notOk(asked.find(({ pathname }) => pathname.startsWith('/api/forecast/')))
  await becomes(t, async () => (await textOf(page.locator('dl.now'))).includes('last full hour'), false)
})

t.test('the address holds the device and range of the analyses', async t => {
  const read = (text: string) => readAnalysesRange(new URLSearchParams(text))
  t.strictSame([read(''), read('analyses=90d'), read('analyses=charts')], ['30d', '90d', 'charts'])
  t.strictSame([read('analyses=toString'), read('analyses=4d')], ['30d', '30d'])
  t.strictSame([analysesArgument('30d'), analysesArgument('charts')], [undefined, 'charts'])
  const window = { fromMs: 10 * dayMs + 1, toMs: 11 * dayMs + 1 }
  t.strictSame(analysesQuery('30d', window, true), [])
  t.strictSame(analysesQuery('365d', window, true), ['days=365'])
  t.strictSame(analysesQuery('charts', window, false), [`start=${window.fromMs}`, `end=${window.toMs}`])
  t.strictSame(analysesQuery('charts', window, true), [`start=${10 * dayMs}`, `end=${11 * dayMs}`])
})

t.test('sentences name it', async t => {
  const window = { days: 30, truncated: false } as Parameters<typeof analysesWords>[1]
  t.equal(analysesWords('30d', window).during, 'in the last 30\u202fdays')
  t.equal(analysesWords('30d', { ...window, truncated: true }).of, 'the readings so far')
  t.equal(analysesWords('charts', { ...window, truncated: true }).during, 'in the range of the charts')
})
