/** The page of devices with metrics of each kind in a browser, on the whole service with its databases. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { buildWeb } from '../../web/build.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { charts, desk, inBrowser, inspect, phone, region, spoken, textOf, unfold } from '../support/browser-page.ts'
import { startService } from '../support/service.ts'
import { press } from '../support/shown-range.ts'
import { waitFor } from '../support/wait-for.ts'
import { addKinds, addMany } from './device-kinds-world.ts'

/** Where it is noon or so, whenever the test runs: today has readings. */
function noonZone(): string {
  const hours = 12 - new Date().getUTCHours()
  // The signs of these names are those of POSIX.
  return hours === 0 ? 'Etc/GMT' : `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`
}

await buildWeb()
const environment = { TIME_ZONE: noonZone(), PORT: String(await freePort()) }
const service = await startService(t, { environment })
const browser = await openBrowser()
t.teardown(() => browser.close())
const { url } = service
const { endMs, passwords } = await addKinds(service, Date.now())
await addMany(service, endMs)
await waitFor('the readings are applied', async () =>
  (await (await fetch(`${url}/metrics`)).text()).includes('\nbarograph_lag_readings 0\n'),
)

async function openDevice(page: Page, name: string, search = ''): Promise<void> {
  await page.goto(`${url}/device/${name}${search}`)
  await page.locator('.device-head .state').waitFor()
  for (const part of ['Readings', 'Today and earlier days', 'Completeness']) await region(page, part).waitFor()
}

const says = (page: Page, section: string) => textOf(region(page, section))
const now = (page: Page) => textOf(page.locator('dl.now'))
const panels = (page: Page) => page.locator('.panel h3').allInnerTexts()
const captions = (page: Page) => region(page, 'Readings').locator('table caption').allInnerTexts()

async function showTable(page: Page): Promise<void> {
  await region(page, 'Readings')
    .getByRole('button', { name: /Show as table/ })
    .click()
}

/** All of them are in the table alone. */
async function pairsOf(page: Page): Promise<string> {
  const table = page.getByRole('table', { name: 'Correlations of all pairs' })
  if ((await table.count()) === 0) {
    await unfold(region(page, 'Correlations'))
    await region(page, 'Correlations')
      .getByRole('button', { name: /Show as table/ })
      .click()
  }
  return await textOf(table)
}

for (const [name, options] of Object.entries({ desk, phone })) {
  t.test(`${name}: a weather station`, async t => {
    await inBrowser(t, browser, options, async page => {
      await openDevice(page, 'station')
      await becomes(t, () => now(page), /Wind direction\s+[NESW]{1,3}\s+\d+°/, 'an arrow with its words')
      await becomes(t, () => now(page), /Rain\s+[\d.]+ mm\s+[\d.]+ mm today/, 'what has come today')
      const titles = ['Temperature °C', 'Humidity %', 'Pressure hPa', 'Wind direction', 'Wind speed m/s', 'Rain mm']
      await becomes(
        t,
        () => panels(page),
        [...titles, 'Illuminance lx'],
        'a chart for each, in the order of the device',
      )
      const kinds = region(page, 'Amounts, directions and states')
      await becomes(
        t,
        () => textOf(kinds),
        /On average wind direction is (?:N|NNE|NNW) \d+°, and \w+ varies|varies little/,
      )
      await becomes(t, () => textOf(kinds), /Rain sums up to 37\.5 mm since its oldest reading\./)
      await becomes(t, () => textOf(kinds), /The most in an hour was 3\.0 mm/)
      await becomes(t, () => kinds.getByRole('img', { name: /^Rose of Wind direction/ }).count(), 1)
      await unfold(region(page, 'Seasonality'))
      await becomes(t, () => says(page, 'Seasonality'), /Wind speed.*Illuminance/s, 'gauges have seasons')
      await becomes(t, () => pairsOf(page), /illuminance/)
      await inspect(t, page, `station, ${name}`)
    })
  })
}

t.test('a meter: increases and resets, never the total as a line', async t => {
  await inBrowser(t, browser, desk, async page => {
    await openDevice(page, 'meter')
    await becomes(t, () => now(page), /Energy\s+7\.20 kWh\s+[\d.]+ kWh today/)
    await showTable(page)
    await becomes(t, () => captions(page), ['Readings, the newest first', 'Increases and sums, the newest first'])
    const increases = page.getByRole('region', { name: /^Increases/ }).locator('tbody tr')
    await becomes(t, () => increases.nth(2).locator('data').innerText(), '0.36', 'of a full hour')
    const kinds = region(page, 'Amounts, directions and states')
    await becomes(t, () => textOf(kinds), /It started again once between .* after 1236\.00 kWh\./)
    await kinds.getByRole('button', { name: /Show as table/ }).click()
    await kinds.getByText('Energy: when it started again').waitFor()
    await charts(page).focus()
    await page.keyboard.press('End')
    // The last value may begin an hour of which no increase is known yet.
    const last = await spoken(page)
    await page.keyboard.press('ArrowLeft')
    await becomes(t, () => spoken(page, last), /Power \d+ W, Energy 0\.\d\d kWh \(\d\d:00–\d\d:00\)$/, 'the cursor')
    await press(page, '30 days')
    const days = page.getByRole('region', { name: /^Increases/ }).locator('tbody tr')
    await becomes(t, () => days.first().locator('th').innerText(), /^\d+ \w+ \d{4}$/, 'local days')
    await inspect(t, page, 'meter')
  })
})

t.test('a contact: a timeline of what is sent on change alone', async t => {
  await inBrowser(t, browser, phone, async page => {
    await openDevice(page, 'contact')
    await becomes(t, () => now(page), /Door open\s+off\s+for (?:\d+ min|\d h)/, 'since when')
    await becomes(t, () => panels(page), ['Door open'], 'nothing of what it does not send')
    await becomes(t, () => region(page, 'Seasonality').count(), 0)
    await showTable(page)
    await becomes(t, () => captions(page), ['Door open: states, the newest first'])
    const row = region(page, 'Readings').locator('tbody tr').nth(1).locator('td')
    await becomes(t, () => row.allInnerTexts().then(cells => cells.slice(1)), ['on', '30 minutes'])
    await becomes(
      t,
      () => says(page, 'Amounts, directions and states'),
      /door open was off \(0\) for .* and on \(1\) for \d+ hours/,
    )
    await becomes(
      t,
      () => says(page, 'Amounts, directions and states'),
      /It changed 2[89] times, last from on \(1\) to off \(0\)/,
    )
    await charts(page).focus()
    await page.keyboard.press('End')
    await becomes(t, () => spoken(page), /Door open off \(.*\)$/, 'the cursor')
    await inspect(t, page, 'contact')
    const listening = page.waitForResponse(/\/api\/events/)
    await page.reload()
    await listening
    await page.locator('dl.now').getByText('off').waitFor()
    const timestamp = new Date(Date.now() - 1000).toISOString()
    t.equal(
      (await service.put('contact', passwords.get('contact') ?? '', { device: 'contact', timestamp, door: 1 })).status,
      200,
    )
    await becomes(t, () => now(page), /Door open\s+on\s+for \d+ (?:s|min)/, 'a change that comes')
  })
})

t.test('a mode of four states, with hours of which nothing is known', async t => {
  await inBrowser(t, browser, desk, async page => {
    await openDevice(page, 'heating')
    await becomes(
      t,
      () => textOf(page.locator('.panel', { hasText: 'Heating mode' }).locator('.panel-values')),
      /0\s*1\s*2\s*3/,
    )
    await becomes(t, () => says(page, 'Amounts, directions and states'), /state \d for .*its state is not known\./s)
    await press(page, '7 days')
    await becomes(t, () => textOf(page.locator('.panel', { hasText: 'Heating mode' })), /share of each hour/)
    await inspect(t, page, 'heating')
  })
})

t.test('a device with temperature alone, and one with CO₂, have nothing of other metrics', async t => {
  await inBrowser(t, browser, phone, async page => {
    await openDevice(page, 'ds18b20')
    await becomes(t, () => panels(page), ['Temperature °C'])
    await becomes(t, () => page.locator('dl.now dt').allInnerTexts(), ['Temperature'])
    await unfold(region(page, 'Seasonality'))
    await becomes(t, () => region(page, 'Seasonality').locator('h3').allInnerTexts(), ['Temperature'])
    for (const other of ['Amounts, directions and states', 'Correlations']) {
      await becomes(t, () => region(page, other).count(), 0, other)
    }
    await inspect(t, page, 'ds18b20')
    await openDevice(page, 'scd41')
    await becomes(t, () => page.locator('dl.now dt').allInnerTexts(), ['CO₂', 'Temperature', 'Humidity'])
    await becomes(t, () => panels(page), ['CO₂ ppm', 'Temperature °C', 'Humidity %'])
    await becomes(t, () => pairsOf(page), /CO₂/)
    await inspect(t, page, 'scd41')
  })
})

t.test('of 64 metrics twelve are shown, and asked for, until others are chosen', async t => {
  await inBrowser(t, browser, desk, async page => {
    const asking = page.waitForRequest(/\/api\/detail_data\/many/)
    await openDevice(page, 'many')
    t.match((await asking).url(), /metrics=probe_01,.*probe_12$/)
    await becomes(t, () => page.locator('dl.now').first().locator('dt').count(), 12)
    await page.getByText('52 more values').click()
    await page.locator('dl.now').getByText('Probe 64').waitFor()
    await becomes(t, () => page.locator('canvas').count(), 12)
    await page.getByText('12 of 64 metrics are shown').click()
    await page.getByLabel('Probe 01', { exact: true }).uncheck()
    await page.getByLabel('Probe 64', { exact: true }).check()
    await becomes(t, async () => (await panels(page)).at(-1), 'Probe 64 °C')
    await becomes(t, () => page.locator('canvas').count(), 12)
    t.match(page.url(), /metrics=probe_02.*probe_64/)
    await inspect(t, page, 'many')
  })
})
