/** The device and compare pages in a browser, on the whole service with its databases. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { buildWeb } from '../../web/build.ts'
import type { Comparison } from '../../web/pages/compare/answers.ts'
import type { Detail } from '../../web/pages/device/answers.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import {
  charts,
  desk,
  inBrowser,
  inspect,
  lookAgain,
  phone,
  region,
  spoken,
  textOf,
  unfold,
} from '../support/browser-page.ts'
import { password as accountPassword } from '../support/people.ts'
import { holdAway } from '../support/processes.ts'
import { startService } from '../support/service.ts'
import { nextRange, press, shownRange } from '../support/shown-range.ts'
import { signInFor } from '../support/sign-in-page.ts'
import { waitFor } from '../support/wait-for.ts'
import { testBands, testDates, testGestures, testHistory } from './device-ranges.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const markup = '<img src=x onerror=alert(1)>'

await buildWeb()
const environment = { TIME_ZONE: 'Europe/Berlin', PORT: String(await freePort()) }
const service = await startService(t, { environment })
const browser = await openBrowser()
t.teardown(() => browser.close())
const { url } = service
const startMs = Math.floor(Date.now() / minuteMs) * minuteMs

/** Five days of a daily cycle, a reading every 10 minutes, without two hours of yesterday. */
function history(device: string, offset: number, untilMs: number): string {
  const lines: string[] = []
  for (let atMs = untilMs - 5 * dayMs; atMs <= untilMs; atMs += 10 * minuteMs) {
    const isGap = atMs > startMs - 20 * hourMs && atMs <= startMs - 18 * hourMs
    const wave = Math.sin((2 * Math.PI * atMs) / dayMs) + Math.sin(atMs) / 10
    // Where the wave turns, a humidity without noise would be a flat line, which is suspect.
    const humidity = 60 - 10 * wave + 2 * (lines.length % 2)
    if (!isGap) lines.push(`${new Date(atMs).toISOString()},${device},${offset + 5 * wave},${humidity},1010`)
  }
  return lines.join('\n')
}

/** By turns 10 and 30 °C, twice in each of the steps that ranges have. */
function alternating(device: string): string {
  const lines: string[] = []
  const stepMs = 7.5 * minuteMs
  for (let step = Math.floor((startMs - 5 * dayMs) / stepMs); step * stepMs <= startMs; step++) {
    lines.push(`${new Date(step * stepMs).toISOString()},${device},${step % 2 === 0 ? 10 : 30},50,1010`)
  }
  return lines.join('\n')
}

const settings = { expected_interval_seconds: 600, location_short: 'Garden' }
await service.addDevice('garden', settings)
await service.addDevice('roof', settings)
const password = await service.addDevice('old', settings)
await service.addDevice('odd', settings)
await service.addDevice('empty')
await service.addDevice('turns', { expected_interval_seconds: 450 })
await service.addDevice(markup, { location_short: '<b>bold</b>', tags: ['site:<i>berlin</i>', 'room:1'] })
const rows = [history('garden', 12, startMs), history('roof', 12.5, startMs), history('old', 10, startMs - 6 * hourMs)]
// A spike among the readings of today.
rows.push(
  alternating('turns'),
  history('odd', 10, startMs),
  `${new Date(startMs - 195 * minuteMs).toISOString()},odd,61,50,1010`,
)
await service.import(`timestamp,device,temperature,humidity,pressure\n${rows.join('\n')}\n`)

async function read<Answer>(path: string): Promise<Answer> {
  return (await (await fetch(`${url}/api/${path}`)).json()) as Answer
}

const detailOf = (device: string) => read<Partial<Detail>>(`detail_data/${device}?points=800&t=1`)
// Before, an answer would be of a part of them, and is kept as long as the devices are expected to send nothing new.
await waitFor('the readings are applied', async () =>
  (await (await fetch(`${url}/metrics`)).text()).includes('\nbarograph_lag_readings 0\n'),
)
await waitFor(
  'the readings can be queried',
  async () => ((await detailOf('roof')).last_24h?.temperature.length ?? 0) > 100,
)

/** The numbers of a column of the first table that is shown, unrounded. */
const numbers = (page: Page, column: number) =>
  page
    .locator(`table tr td:nth-of-type(${column})`)
    .evaluateAll(cells =>
      cells.map(cell => (cell.querySelector('data') === null ? null : Number(cell.querySelector('data')?.value))),
    )

async function openDevice(page: Page, name: string, search = ''): Promise<void> {
  await page.goto(`${url}/device/${encodeURIComponent(name)}${search}`)
  // Every answer of the page is there: the head is that of /latest, and each other has a part of its own.
  await page.locator('.device-head .state').waitFor()
  for (const part of ['Readings', 'Today and earlier days', 'Seasonality']) await region(page, part).waitFor()
}

async function showTable(page: Page): Promise<void> {
  await region(page, 'Readings')
    .getByRole('button', { name: /Show as table/ })
    .click()
}

for (const [name, options] of Object.entries({ desk, phone })) {
  t.test(`${name}: what a device measures, and what that says`, async t => {
    await inBrowser(t, browser, options, async page => {
      await openDevice(page, 'garden')
      await becomes(
        t,
        () => textOf(page.locator('.no-findings, .findings')),
        /No readings for 2 hours from/,
        'findings',
      )
      for (const section of ['Completeness', 'Seasonality', 'Correlations']) await unfold(region(page, section))
      const saysOf = (section: string, pattern: RegExp) =>
        becomes(t, () => textOf(region(page, section)), pattern, section)
      await becomes(t, () => page.title(), 'garden – Barograph', 'the title')
      await becomes(t, () => textOf(page.locator('dl.now')), /Temperature\s+[\d.]+ °C\s+\d/, 'the current values')
      await saysOf('Completeness', /There was one gap, of 2 hours 10 minutes\./)
      await saysOf('Seasonality', /Temperature has a cycle of 24 hours: it explains 9\d(\.\d)? % of the variance/)
      await saysOf('Seasonality', /All values are the same\./)
      await saysOf('Correlations', /No clear link \(too few independent hours\)\./)
      await becomes(t, () => page.locator('canvas').count(), 3, 'one chart for each metric')
      await inspect(t, page, `device, ${name}`)
    })
  })

  t.test(`${name}: two devices side by side`, async t => {
    await inBrowser(t, browser, options, async page => {
      await page.goto(`${url}/compare?a=garden&b=roof&preset=3d`)
      const temperature = region(page, 'Temperature')
      await becomes(t, () => textOf(temperature), /garden reads 0\.5 °C less than roof on average\./, 'the difference')
      await becomes(
        t,
        () => textOf(region(page, 'Pressure')),
        /read the same on average.*One of the two does not vary\./s,
        'no difference',
      )
      await inspect(t, page, `compare, ${name}`)
      await temperature.getByRole('button', { name: /Show as table/ }).click()
      const { temperature: compared } = await read<Comparison>('compare_data?a=garden&b=roof&preset=3d&t=1')
      for (const [place, series] of (['a', 'b', 'diff'] as const).entries()) {
        const newest = compared[series].toReversed().map(({ v }) => v)
        await becomes(t, () => numbers(page, place + 1), newest.slice(0, 48), series)
      }
      await inspect(t, page, `compare with a table, ${name}`)
      await press(page, '24 hours')
      await page.waitForURL(found => found.searchParams.get('preset') === '24h')
    })
  })
}

t.test('devices are chosen by name', async t => {
  await inBrowser(t, browser, desk, async page => {
    await page.goto(`${url}/compare?a=garden`)
    await page.getByText('Choose two devices.').waitFor()
    const second = page.getByLabel('Second device')
    await second.pressSequentially('roo')
    await becomes(t, () => second.inputValue(), 'roo', 'what was typed stays')
    await page.locator('datalist option[value=roof]').first().waitFor({ state: 'attached' })
    await second.pressSequentially('f')
    await second.press('Enter')
    await page.waitForURL(found => found.searchParams.get('b') === 'roof')
    await region(page, 'Temperature').waitFor()
  })
})

t.test('the table has the numbers of the answer', async t => {
  await inBrowser(t, browser, desk, async page => {
    await openDevice(page, 'old')
    await showTable(page)
    const { last_24h } = await detailOf('old')
    const newest = (last_24h?.temperature ?? []).toReversed().map(({ v }) => v)
    t.ok(newest.length > 48)
    await becomes(t, () => numbers(page, 1), newest.slice(0, 48), 'the newest')
    await page.getByRole('button', { name: /Show more/ }).click()
    await becomes(t, () => numbers(page, 1), newest, 'all')
  })
})

t.test('a suspect reading is a hollow point, with a word in the table and at the cursor', async t => {
  await inBrowser(t, browser, phone, async page => {
    await openDevice(page, 'odd')
    await page.getByText('Hollow points are suspect readings').waitFor()
    const temperature = page.locator('.panel', { has: page.getByRole('heading', { name: /^Temperature/ }) })
    await becomes(t, () => textOf(temperature.locator('.panel-values')), /suspect/, 'the legend')
    await inspect(t, page, 'suspect readings')
    await showTable(page)
    const row = page.getByRole('row').filter({ hasText: '61.0' })
    await becomes(t, () => textOf(row.locator('td').last()), /^Temperature/, 'the table')
    await charts(page).focus()
    await page.keyboard.press('End')
    for (let step = 0, told = await spoken(page); step < 30 && !/Temperature 61/.test(told); step++) {
      await page.keyboard.press('ArrowLeft')
      told = await spoken(page, told)
    }
    await becomes(t, () => spoken(page), /Temperature 61\.0 °C \(suspect\)/, 'the cursor')
    await press(page, '7 days')
    await page.getByText('Hollow points are suspect readings').waitFor({ state: 'detached' })
  })
})

t.test('by keyboard alone: the cursor tells values, and a zoom stands in the address', async t => {
  await inBrowser(t, browser, desk, async page => {
    await openDevice(page, 'garden')
    await charts(page).waitFor()
    for (let stops = 0; stops < 40; stops++) {
      await page.keyboard.press('Tab')
      if (await page.evaluate("document.activeElement.getAttribute('role') === 'application'")) break
    }
    await page.keyboard.press('End')
    const last = await spoken(page)
    t.match(last, /^\d+ \w+ \d{4}, \d\d:\d\d: Temperature −?[\d.]+ °C, Humidity \d+ %, Pressure 1,?010\.0 hPa$/)
    await page.keyboard.press('ArrowLeft')
    await spoken(page, last)
    const before = await shownRange(page)
    await page.keyboard.press('+')
    const zoomed = await nextRange(t, page, before)
    await page.reload()
    await becomes(t, () => shownRange(page), zoomed, 'a link shows the same')
    await charts(page).focus()
    await page.keyboard.press('0')
    await page.waitForURL(found => found.search === '')
  })
})

const pages = { browser, url, nowMs: startMs, device: 'turns', other: 'garden' }
testBands(t, pages)
testGestures(t, pages)
testHistory(t, pages)
testDates(t, pages)

t.test('an old value is grey and says how old it is', async t => {
  await inBrowser(t, browser, desk, async page => {
    await openDevice(page, 'old')
    await becomes(t, () => page.locator('dl.now .old').count(), 3, 'three metrics')
    await becomes(t, () => textOf(page.locator('dl.now .old .age').first()), /^6 h/, 'the age')
    await becomes(t, () => page.locator('dl.now > div:not(.old)').count(), 0)
  })
})

t.test('a device without readings, one that does not exist, and a name of markup', async t => {
  await inBrowser(t, browser, phone, async page => {
    await openDevice(page, 'empty')
    await page.getByText('There is no reading yet.').waitFor()
    await page.getByText('There are no readings in this range.').waitFor()
    await inspect(t, page, 'empty')
    await openDevice(page, markup)
    await becomes(t, () => textOf(page.getByRole('heading', { level: 1 })), markup, 'the name')
    await becomes(t, () => page.locator('main img').count(), 0)
    await becomes(t, () => page.locator('.device-head .tags li').allInnerTexts(), ['room:1', 'site:<i>berlin</i>'])
    await inspect(t, page, 'tags')
    await page.getByRole('link', { name: 'room:1' }).click()
    await page.waitForURL(url => url.search === '?tag=room%3A1')
    await page.getByText(/^1 device\./).waitFor()
    await page.goto(`${url}/device/nowhere`)
    await page.getByRole('heading', { name: 'No such device' }).waitFor()
    await inspect(t, page, 'unknown')
    await page.goto(`${url}/compare?a=garden&b=nowhere`)
    await page.getByText('One of these devices does not exist').waitFor()
    await inspect(t, page, 'compare, unknown')
  })
})

t.test('while the database is away the page says so, and goes on by itself', async t => {
  await inBrowser(t, browser, desk, async page => {
    const refused = { status: 503, json: { status: 'database unavailable' }, headers: { 'retry-after': '1' } }
    await page.route(/\/api\/\w+_data\//, route => route.fulfill(refused))
    await page.goto(`${url}/device/garden`)
    await page.getByText('The service cannot read its data at the moment').waitFor()
    await inspect(t, page, 'away')
    await page.unroute(/\/api\/\w+_data\//)
    await region(page, 'Seasonality').waitFor()
    await page.locator('.banner').waitFor({ state: 'detached' })
  })
})

t.test('a stored reading comes into the values and the chart as it is acknowledged', async t => {
  await inBrowser(t, browser, desk, async page => {
    const listening = page.waitForResponse(/\/api\/events/)
    await openDevice(page, 'old')
    await listening
    await showTable(page)
    // What is read again tells nothing new, so what comes has come as an event.
    await page.route(/\/api\/(?:latest|detail_data)\//, route => route.fulfill({ status: 304 }))
    const { last_24h } = await detailOf('old')
    const newest = (last_24h?.temperature ?? []).toReversed().map(({ v }) => v)
    await becomes(t, () => numbers(page, 1), newest.slice(0, 48), 'the table before')
    const timestamp = new Date(Math.floor(Date.now() / minuteMs) * minuteMs - 1000).toISOString()
    const body = { device: 'old', timestamp, temperature: 33.25, humidity: 44, pressure: 1011.5 }
    t.equal((await service.put('old', password, body)).status, 200)
    await page.locator('dl.now').getByText('33.3').waitFor()
    await becomes(t, () => numbers(page, 1), [33.25, ...newest.slice(0, 47)], 'the table')
    await charts(page).focus()
    await page.keyboard.press('End')
    await becomes(t, () => spoken(page), /Temperature 33\.3 °C, Humidity 44 %/, 'the cursor')
  })
})

const unavailable = 'The service cannot read its data at the moment'

t.test(
  'while QuestDB is away the last picture stays with its time, on the pages of a device and of the service',
  async t => {
    const account = { email: 'ada@example.com', name: 'Ada', role: 'administrator', password: accountPassword }
    t.equal((await service.admin('POST', '/accounts', account)).status, 201)
    await inBrowser(t, browser, desk, async page => {
      await signInFor(page, url, account.email, '/admin/status?range=1h')
      await charts(page).focus()
      await becomes(t, () => page.locator('canvas').count(), 4, 'the service has figures of its own')
      await page.keyboard.press('End')
      const figures = /Lag [\d.]+ s, Rejected \d+ readings per 10 seconds, Memory \d+ MB$/
      await becomes(t, () => spoken(page), figures, 'the cursor')
      const device = await page.context().newPage()
      await openDevice(device, 'garden', '?range=7d')
      await becomes(t, () => device.locator('canvas').count(), 3, 'one chart for each metric')
      const release = holdAway({ path: service.dataDirectory }, 'questdb')
      try {
        for (const [shown, canvases] of [
          [page, 4],
          [device, 3],
        ] as const) {
          await lookAgain(shown)
          const banner = new RegExp(`${unavailable}.*Data of \\d\\d:\\d\\d\\.`, 's')
          await becomes(t, () => textOf(shown.locator('.banner')), banner, 'the time of the picture')
          await becomes(t, () => shown.title(), /^No data – /, 'the title')
          await becomes(t, () => shown.locator('canvas').count(), canvases, 'the charts stay')
        }
        await inspect(t, device, 'QuestDB away')
      } finally {
        release()
      }
      for (const shown of [page, device]) {
        await shown.locator('.banner').waitFor({ state: 'detached' })
        await becomes(t, () => shown.title(), /^(?!No data)/, 'the title')
      }
    })
  },
)

t.test('the service is killed and started again: the page says so, and recovers', async t => {
  await inBrowser(t, browser, desk, async page => {
    await openDevice(page, 'old')
    await becomes(t, () => page.locator('canvas').count(), 3, 'one chart for each metric')
    await service.killAll()
    await lookAgain(page)
    const banner = /The service does not answer.*Data of \d\d:\d\d\./s
    await becomes(t, () => textOf(page.locator('.banner')), banner, 'the time of the picture')
    await becomes(t, () => page.title(), 'No connection – old – Barograph', 'the title')
    await becomes(t, () => page.locator('canvas').count(), 3, 'the charts stay')
    await inspect(t, page, 'service gone')
    await startService(t, { environment, dataDirectory: service.dataDirectory })
    await page.locator('.banner').waitFor({ state: 'detached' })
    await becomes(t, () => page.title(), 'old – Barograph', 'the title')
    await page.locator('dl.now').getByText('33.3').waitFor()
  })
})
