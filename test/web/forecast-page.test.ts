/** What is forecast, and what is usual for the hour, on the page of a device in a browser, on the whole service. */

import type { Page } from 'playwright-core'
import t from 'tap'
import type { Forecast } from '../../query/shapes/forecast.ts'
import { freePort } from '../../store/process/free-port.ts'
import { buildWeb } from '../../web/build.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { charts, desk, inBrowser, inspect, phone, region, spoken, textOf } from '../support/browser-page.ts'
import { startService } from '../support/service.ts'
import { press } from '../support/shown-range.ts'
import { waitFor } from '../support/wait-for.ts'

const minuteMs = 60_000
const dayMs = 86_400_000

await buildWeb()
const service = await startService(t, { environment: { TIME_ZONE: 'Europe/Berlin', PORT: String(await freePort()) } })
const browser = await openBrowser()
t.teardown(() => browser.close())
const { url } = service
/** The last reading; the hour has begun, so that it has one. */
const endMs = Math.floor(Date.now() / (10 * minuteMs)) * 10 * minuteMs

/** A daily cycle, and beside it what no forecast knows. */
function history(device: string, days: number, lastMs = endMs): string {
  const lines: string[] = []
  for (let atMs = lastMs - days * dayMs; atMs <= lastMs; atMs += 10 * minuteMs) {
    const wave = Math.sin((2 * Math.PI * atMs) / dayMs) + 0.2 * Math.sin(atMs / 4e7) + 0.05 * Math.sin(atMs)
    const values = [20 + 4 * wave, 50 - 10 * wave, 1010 + wave, 700 + 200 * wave]
    lines.push(`${new Date(atMs).toISOString()},${device},${values.map(value => value.toFixed(2)).join(',')}`)
  }
  return lines.join('\n')
}

await service.admin('POST', '/metrics', { name: 'co2' })
const names = ['temperature', 'humidity', 'pressure', 'co2']
for (const device of ['cellar', 'young', 'gone']) {
  await service.addDevice(device, { metrics: names, expected_interval_seconds: 600 })
}
await service.import(
  `timestamp,device,${names.join(',')}\n${[history('cellar', 24), history('young', 5), history('gone', 24, endMs - 80 * minuteMs)].join('\n')}\n`,
)
const forecastOf = async (device: string) => (await (await fetch(`${url}/api/forecast/${device}`)).json()) as Forecast
await waitFor('the readings are applied', async () =>
  (await (await fetch(`${url}/metrics`)).text()).includes('\nbarograph_lag_readings 0\n'),
)
await waitFor('there is a forecast', async () => (await forecastOf('cellar')).temperature.hours.length > 0)

const legends = (page: Page) => page.locator('.panel .key.ahead').allInnerTexts()
const legend = 'forecast, 80 %'

async function open(page: Page, device: string, search = ''): Promise<void> {
  await page.goto(`${url}/device/${device}${search}`)
  await region(page, 'Readings').locator('canvas').first().waitFor()
}

for (const [name, options] of Object.entries({ desk, phone })) {
  t.test(`${name}: the charts of 24 hours go on with what is forecast, those of other ranges do not`, async t => {
    await inBrowser(t, browser, options, async page => {
      await open(page, 'cellar')
      await becomes(t, () => legends(page), Array(4).fill(legend), 'each gauge has one')
      await page.getByText('Dashed lines are a forecast of the mean of each hour').waitFor()
      await inspect(t, page, `forecast, ${name}`)
      await press(page, '7 days')
      await becomes(t, () => legends(page), [])
      await press(page, '24 hours')
      await becomes(t, () => legends(page), Array(4).fill(legend))
    })
  })
}

t.test('the cursor and the table tell the numbers of the answer', async t => {
  await inBrowser(t, browser, desk, async page => {
    const answered = page.waitForResponse(response => response.url().includes('/api/forecast/cellar'))
    await open(page, 'cellar')
    await becomes(t, () => legends(page), Array(4).fill(legend))
    await charts(page).focus()
    await page.keyboard.press('End')
    const newest = await spoken(page)
    t.match(newest, /: Temperature [\d.]+ °C, /, 'it begins at the newest reading')
    await page.keyboard.press('End')
    await becomes(
      t,
      () => spoken(page, newest),
      /: Temperature forecast, 80 % ([\d.]+) °C \(([\d.]+) to ([\d.]+)\), .*CO₂ forecast, 80 % \d+ ppm \(\d+ to \d+\)$/,
    )
    await region(page, 'Readings')
      .getByRole('button', { name: /Show as table/ })
      .click()
    const rows = page.getByRole('table', { name: /^Forecast/ }).locator('tbody tr')
    const shown = () =>
      rows.evaluateAll(found =>
        found.map(row => [...row.querySelectorAll('data')].slice(0, 3).map(({ value }) => Number(value))),
      )
    const { hours } = ((await (await answered).json()) as Forecast).temperature
    const expected = hours.slice(0, 12).map(({ median, low80, high80 }) => [median, low80, high80])
    await becomes(t, shown, expected, 'median, low and high')
  })
})

t.test('a device of five days has no forecast', async t => {
  await inBrowser(t, browser, desk, async page => {
    const answered = page.waitForResponse(response => response.url().includes('/api/forecast/young'))
    await open(page, 'young')
    t.match(await (await answered).json(), { temperature: { hours: [], reason: 'less than 14 days' } })
    // Drawn after that answer: the page that reads another one shows no key of the first.
    await charts(page).focus()
    await page.keyboard.press('End')
    await becomes(t, () => spoken(page), /^(?!.*forecast)./)
    await becomes(t, () => legends(page), [])
  })
})

t.test('each gauge says whether it is usual for the hour, those beside the five too', async t => {
  await inBrowser(t, browser, desk, async page => {
    await open(page, 'cellar')
    const usual = String.raw`last full hour: (?:usual|(?:higher|lower) than on \d+ of \d+ days)`
    for (const name of ['Temperature', 'Humidity', 'Pressure', 'CO₂']) {
      const value = page.locator('dl.now > div', { has: page.getByText(name, { exact: true }) })
      await becomes(t, () => textOf(value), new RegExp(`^${name}\\s.*${usual}`, 's'), name)
    }
  })
})

t.test('a silent device has neither a forecast nor what is usual', async t => {
  t.ok((await forecastOf('gone')).temperature.hours.length > 0, 'the answer has one')
  await inBrowser(t, browser, desk, async page => {
    const requests: string[] = []
    page.on('request', request => void requests.push(new URL(request.url()).pathname))
    const answered = page.waitForResponse(response => response.url().includes('/api/normal/gone'))
    await open(page, 'gone')
    await page.locator('.device-head').getByText('silent').waitFor()
    await answered
    await charts(page).focus()
    await page.keyboard.press('End')
    await becomes(t, () => spoken(page), /^(?!.*forecast)./)
    t.notOk(requests.includes('/api/forecast/gone'), 'a forecast is not requested, so that none can be shown')
    await becomes(t, async () => (await textOf(page.locator('dl.now'))).includes('last full hour'), false)
    await inspect(t, page, 'a silent device')
  })
})
