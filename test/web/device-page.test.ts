/** The device and compare pages in a browser, on the whole service with its databases. */

import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { buildWeb } from '../../web/build.ts'
import { createTimes } from '../../web/text/times.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, inspect, lookAgain, phone } from '../support/browser-page.ts'
import { holdAway } from '../support/processes.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const patience = { timeout: 10 * minuteMs }
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
    if (!isGap) lines.push(`${new Date(atMs).toISOString()},${device},${offset + 5 * wave},${60 - 10 * wave},1010`)
  }
  return lines.join('\n')
}

const settings = { expected_interval_s: 600, location_short: 'Garden' }
await service.addDevice('garden', settings)
await service.addDevice('roof', settings)
const password = await service.addDevice('old', settings)
await service.addDevice('odd', settings)
await service.addDevice('empty')
await service.addDevice(markup, { location_short: '<b>bold</b>' })
const rows = [history('garden', 12, startMs), history('roof', 12.5, startMs), history('old', 10, startMs - 6 * hourMs)]
// A spike among the readings of today.
rows.push(history('odd', 10, startMs), `${new Date(startMs - 195 * minuteMs).toISOString()},odd,61,50,1010`)
await service.import(`timestamp,device,temperature,humidity,pressure\n${rows.join('\n')}\n`)

interface Point {
  t: number
  v: number
}

async function read<Answer>(path: string): Promise<Answer> {
  return (await (await fetch(`${url}/api/${path}`)).json()) as Answer
}

const detailOf = (device: string) =>
  read<{ last_24h?: { temperature: Point[] } }>(`detail_data/${device}?points=800&t=1`)
// Before, an answer would be of a part of them, and is kept as long as the devices are expected to send nothing new.
await waitFor('the readings are applied', async () =>
  (await (await fetch(`${url}/metrics`)).text()).includes('\nbarograph_lag_readings 0\n'),
)
await waitFor(
  'the readings can be queried',
  async () => ((await detailOf('roof')).last_24h?.temperature.length ?? 0) > 100,
)

/** With plain spaces. */
const textOf = async (place: Locator) => (await place.innerText()).replaceAll('\u202f', ' ')
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const charts = (page: Page) => page.getByRole('application')
/** The numbers of a column of the first table that is shown, unrounded. */
const numbers = (page: Page, column: number) =>
  page
    .locator(`table tr td:nth-of-type(${column})`)
    .evaluateAll(cells =>
      cells.map(cell => (cell.querySelector('data') === null ? null : Number(cell.querySelector('data')?.value))),
    )

async function openDevice(page: Page, name: string, search = ''): Promise<void> {
  await page.goto(`${url}/device/${encodeURIComponent(name)}${search}`)
  await region(page, 'Seasonality').waitFor({ timeout: 10 * minuteMs })
}

for (const [name, options] of Object.entries({ desk, phone })) {
  t.test(`${name}: what a device measures, and what that says`, async t => {
    await inBrowser(t, browser, options, async page => {
      await openDevice(page, 'garden')
      await charts(page).waitFor()
      t.equal(await page.title(), 'garden – Barograph')
      t.match(await textOf(page.locator('dl.now')), /Temperature\s+[\d.]+ °C\s+\d/)
      t.match(await textOf(region(page, 'Completeness')), /There was one gap, of 2 hours 10 minutes\./)
      t.match(
        await textOf(region(page, 'Seasonality')),
        /Temperature repeats every 24 hours: the cycle explains 9\d(\.\d)? % of how it varies/,
      )
      t.match(
        await textOf(region(page, 'Seasonality')),
        /All values are the same, so there is nothing to find\./,
        'pressure',
      )
      t.match(await textOf(region(page, 'Correlations')), /As temperature rises, humidity falls/)
      t.equal(await page.locator('canvas').count(), 3, 'one chart for each metric')
      await inspect(t, page, `device, ${name}`)
    })
  })

  t.test(`${name}: two devices side by side`, async t => {
    await inBrowser(t, browser, options, async page => {
      await page.goto(`${url}/compare?a=garden&b=roof&preset=3d`)
      const temperature = region(page, 'Temperature')
      await temperature.waitFor({ timeout: 10 * minuteMs })
      t.match(await textOf(temperature), /garden reads 0\.5 °C less than roof on average\./)
      t.match(await textOf(region(page, 'Pressure')), /read the same on average.*One of the two does not vary\./s)
      await inspect(t, page, `compare, ${name}`)
      await temperature.getByRole('button', { name: /Show as table/ }).click()
      const { temperature: compared } = await read<{ temperature: Record<'a' | 'b' | 'diff', Point[]> }>(
        'compare_data?a=garden&b=roof&preset=3d&t=1',
      )
      for (const [place, series] of (['a', 'b', 'diff'] as const).entries()) {
        const newest = compared[series].toReversed().map(({ v }) => v)
        t.strictSame(await numbers(page, place + 1), newest.slice(0, 48), series)
      }
      await inspect(t, page, `compare with a table, ${name}`)
      await page.getByRole('button', { name: '24 hours', exact: true }).click()
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
    t.equal(await second.inputValue(), 'roo')
    await page.locator('datalist option[value=roof]').first().waitFor({ state: 'attached' })
    await second.pressSequentially('f')
    await second.press('Enter')
    await page.waitForURL(found => found.searchParams.get('b') === 'roof')
    await region(page, 'Temperature').waitFor({ timeout: 10 * minuteMs })
  })
})

t.test('the table has the numbers of the answer', async t => {
  await inBrowser(t, browser, desk, async page => {
    await openDevice(page, 'old')
    await region(page, 'Readings')
      .getByRole('button', { name: /Show as table/ })
      .click()
    const { last_24h } = await detailOf('old')
    const newest = (last_24h?.temperature ?? []).toReversed().map(({ v }) => v)
    t.ok(newest.length > 48)
    t.strictSame(await numbers(page, 1), newest.slice(0, 48))
    await page.getByRole('button', { name: /Show more/ }).click()
    t.strictSame(await numbers(page, 1), newest)
  })
})

t.test('a suspect reading is a hollow point, with a word in the table and at the cursor', async t => {
  await inBrowser(t, browser, phone, async page => {
    await openDevice(page, 'odd')
    await page.getByText('Hollow points are suspect readings').waitFor()
    const temperature = page.locator('.panel', { has: page.getByRole('heading', { name: /^Temperature/ }) })
    t.match(await temperature.locator('.panel-values').innerText(), 'suspect')
    await inspect(t, page, 'suspect readings')
    await region(page, 'Readings')
      .getByRole('button', { name: /Show as table/ })
      .click()
    const row = page.getByRole('row').filter({ hasText: '61.0' })
    t.match(await row.locator('td').last().innerText(), /^Temperature/)
    await charts(page).focus()
    await page.keyboard.press('End')
    const spoken = () => textOf(page.locator('[aria-live=polite]'))
    for (let step = 0; step < 30 && !/Temperature 61/.test(await spoken()); step++) {
      await page.keyboard.press('ArrowLeft')
    }
    t.match(await spoken(), /Temperature 61\.0 °C \(suspect\)/)
    await page.getByRole('button', { name: '7 days', exact: true }).click()
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
    const spoken = () => textOf(page.locator('[aria-live=polite]'))
    t.match(
      await spoken(),
      /^\d+ \w+ \d{4}, \d\d:\d\d: Temperature −?[\d.]+ °C, Humidity \d+ %, Pressure 1,?010\.0 hPa$/,
    )
    const last = await spoken()
    await page.keyboard.press('ArrowLeft')
    t.not(await spoken(), last)
    await page.keyboard.press('Home')
    await page.keyboard.press('+')
    await page.waitForURL(/from=.*&to=/)
    const address = page.url()
    await page.keyboard.press('Home')
    const first = await page.locator('.cursor-time').innerText()
    await page.reload()
    await charts(page).waitFor()
    t.equal(page.url(), address)
    await charts(page).focus()
    await page.keyboard.press('Home')
    t.equal(await page.locator('.cursor-time').innerText(), first, 'a link shows the same')
    await page.keyboard.press('0')
    await page.waitForURL(found => found.search === '')
  })
})

t.test('buttons move and zoom the range, and the back button returns to a preset', async t => {
  await inBrowser(t, browser, phone, async page => {
    await openDevice(page, 'garden')
    await page.getByRole('button', { name: '7 days', exact: true }).click()
    await page.waitForURL(found => found.search === '?range=7d')
    await charts(page).waitFor()
    await page.getByRole('button', { name: 'Earlier', exact: true }).click()
    await page.waitForURL(/from=/)
    await page.getByRole('button', { name: '30 days', exact: true }).click()
    await page.waitForURL(found => found.search === '?range=30d')
    await page.goBack()
    await page.waitForURL(/from=/)
  })
})

t.test('an old value is grey and says how old it is', async t => {
  await inBrowser(t, browser, desk, async page => {
    await openDevice(page, 'old')
    t.equal(await page.locator('dl.now .old').count(), 3)
    t.match(await page.locator('dl.now .old .age').first().innerText(), /^6 h/)
    t.equal(await page.locator('dl.now > div:not(.old)').count(), 0)
  })
})

t.test('a device without readings, one that does not exist, and a name of markup', async t => {
  await inBrowser(t, browser, phone, async page => {
    await openDevice(page, 'empty')
    await page.getByText('There is no reading yet.').waitFor()
    await page.getByText('There are no readings in this range.').waitFor()
    await inspect(t, page, 'empty')
    await openDevice(page, markup)
    t.equal(await page.getByRole('heading', { level: 1 }).innerText(), markup)
    t.equal(await page.locator('main img').count(), 0)
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
    await region(page, 'Seasonality').waitFor({ timeout: 10 * minuteMs })
    await page.locator('.banner').waitFor({ state: 'detached', timeout: 10 * minuteMs })
  })
})

const berlin = createTimes('Europe/Berlin')

/** As the address has it; the page has to say the same. */
async function shownWindow(page: Page): Promise<{ fromMs: number; toMs: number }> {
  await page.waitForURL(/from=.*&to=/)
  const { searchParams } = new URL(page.url())
  const [fromMs = 0, toMs = 0] = ['from', 'to'].map(name => Date.parse(searchParams.get(name) ?? ''))
  // Where the pointer is, the page tells the moment instead.
  await page.mouse.move(0, 0)
  await page.getByText(`${berlin.dateTime(fromMs)} – ${berlin.dateTime(toMs)}`, { exact: true }).waitFor()
  return { fromMs, toMs }
}

const spanMs = ({ fromMs, toMs }: { fromMs: number; toMs: number }) => toMs - fromMs
const addressChanges = (page: Page, before: string) => page.waitForURL(found => found.href !== before)

t.test('the wheel zooms with Ctrl and moves sideways; keys do the same', async t => {
  await inBrowser(t, browser, desk, async page => {
    await openDevice(page, 'garden')
    const box = await charts(page).boundingBox()
    const overCharts = () => page.mouse.move((box?.x ?? 0) + 600, (box?.y ?? 0) + 100)
    await overCharts()
    await page.keyboard.down('Control')
    await page.mouse.wheel(0, -300)
    await page.keyboard.up('Control')
    const zoomed = await shownWindow(page)
    t.ok(spanMs(zoomed) < dayMs / 2, 'less is shown')
    let before = page.url()
    await overCharts()
    await page.mouse.wheel(-300, 0)
    await addressChanges(page, before)
    const moved = await shownWindow(page)
    t.ok(moved.fromMs < zoomed.fromMs, 'to earlier times')
    t.equal(spanMs(moved), spanMs(zoomed))
    await charts(page).focus()
    before = page.url()
    await page.keyboard.press('Shift+ArrowRight')
    await addressChanges(page, before)
    const back = await shownWindow(page)
    t.ok(back.fromMs > moved.fromMs, 'to later times')
    before = page.url()
    await page.keyboard.press('-')
    await addressChanges(page, before)
    t.ok(spanMs(await shownWindow(page)) > spanMs(back), 'more is shown')
  })
})

t.test('two fingers zoom, one moves the range', async t => {
  await inBrowser(t, browser, phone, async page => {
    await openDevice(page, 'garden')
    await charts(page).scrollIntoViewIfNeeded()
    const box = await charts(page).boundingBox()
    const [left, y] = [box?.x ?? 0, (box?.y ?? 0) + 80]
    const devTools = await page.context().newCDPSession(page)
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...places: number[]) =>
      devTools.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: places.map((x, id) => ({ x: left + x, y, id })),
      })
    await touch('touchStart', 140, 180)
    for (const by of [10, 20, 30, 40]) await touch('touchMove', 140 - by, 180 + by)
    await touch('touchEnd')
    const zoomed = await shownWindow(page)
    t.ok(spanMs(zoomed) < dayMs * 0.6, 'fingers that part show less')
    const before = page.url()
    await touch('touchStart', 100)
    for (const by of [20, 40, 60, 80]) await touch('touchMove', 100 + by)
    await touch('touchEnd')
    await addressChanges(page, before)
    const moved = await shownWindow(page)
    t.ok(moved.fromMs < zoomed.fromMs, 'a finger to the right shows earlier times')
    t.equal(spanMs(moved), spanMs(zoomed))
  })
})

t.test('a stored reading comes into the values and the chart as it is acknowledged', async t => {
  await inBrowser(t, browser, desk, async page => {
    const listening = page.waitForResponse(/\/api\/events/)
    await openDevice(page, 'old')
    await listening
    await region(page, 'Readings')
      .getByRole('button', { name: /Show as table/ })
      .click()
    // What is read again tells nothing new, so what comes has come as an event.
    await page.route(/\/api\/(?:latest|detail_data)\//, route => route.fulfill({ status: 304 }))
    const [before] = await numbers(page, 1)
    const timestamp = new Date(Math.floor(Date.now() / minuteMs) * minuteMs - 1000).toISOString()
    const body = { device: 'old', timestamp, temperature: 33.25, humidity: 44, pressure: 1011.5 }
    t.equal((await service.put('old', password, body)).status, 200)
    await page.locator('dl.now').getByText('33.3').waitFor()
    await waitFor('it is in the table', async () => (await numbers(page, 1))[0] === 33.25)
    t.equal((await numbers(page, 1))[1], before)
    await charts(page).focus()
    await page.keyboard.press('End')
    t.match(await textOf(page.locator('[aria-live=polite]')), /Temperature 33\.3 °C, Humidity 44 %/)
  })
})

t.test(
  'while QuestDB is away the last picture stays with its time, on the pages of a device and of the service',
  async t => {
    const account = { email: 'ada@example.com', name: 'Ada', role: 'administrator', password: 'correct horse battery' }
    t.equal((await service.admin('POST', '/accounts', account)).status, 201)
    await inBrowser(t, browser, desk, async page => {
      await page.goto(`${url}/sign-in?callbackUrl=%2Fadmin%2Fstatus%3Frange%3D1h`)
      await page.getByLabel('E-mail address', { exact: true }).fill(account.email)
      await page.getByLabel('Password', { exact: true }).fill(account.password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.waitForURL(/\/admin\/status/)
      await charts(page).waitFor(patience)
      t.equal(await page.locator('canvas').count(), 4, 'the service has figures of its own')
      await charts(page).focus()
      await page.keyboard.press('End')
      t.match(
        await textOf(page.locator('[aria-live=polite]')),
        /Lag [\d.]+ s, Rejected \d+ readings per 10 seconds, Memory \d+ MB$/,
      )
      const device = await page.context().newPage()
      await openDevice(device, 'garden', '?range=7d')
      await charts(device).waitFor(patience)
      const release = holdAway({ path: service.dataDirectory }, 'questdb')
      try {
        for (const shown of [page, device]) {
          const canvases = await shown.locator('canvas').count()
          await lookAgain(shown)
          await shown.getByText('The service cannot read its data at the moment').waitFor(patience)
          t.match(await shown.locator('.banner').innerText(), /Data of \d\d:\d\d\./)
          t.match(await shown.title(), /^No data – /)
          t.equal(await shown.locator('canvas').count(), canvases, 'the charts stay')
        }
        await inspect(t, device, 'QuestDB away')
      } finally {
        release()
      }
      for (const shown of [page, device]) {
        await shown.locator('.banner').waitFor({ state: 'detached', ...patience })
        t.notMatch(await shown.title(), 'No data')
      }
    })
  },
)

t.test('the service is killed and started again: the page says so, and recovers', async t => {
  await inBrowser(t, browser, desk, async page => {
    await openDevice(page, 'old')
    await charts(page).waitFor()
    await service.killAll()
    await lookAgain(page)
    await page.getByText('The service does not answer').waitFor(patience)
    t.equal(await page.title(), 'No connection – old – Barograph')
    t.match(await page.locator('.banner').innerText(), /Data of \d\d:\d\d\./)
    t.equal(await page.locator('canvas').count(), 3, 'the charts stay')
    await inspect(t, page, 'service gone')
    await startService(t, { environment, dataDirectory: service.dataDirectory })
    await page.locator('.banner').waitFor({ state: 'detached', ...patience })
    t.equal(await page.title(), 'old – Barograph')
    await page.locator('dl.now').getByText('33.3').waitFor(patience)
  })
})
