/** The page of a device in a browser: measurements, failures of its reads, and the range of its charts. */

import type { Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { localMinute } from '../../web/charts/range.ts'
import type { Detail } from '../../web/pages/device/answers.ts'
import { createZone } from '../../web/text/zone.ts'
import { becomes } from '../support/becomes.ts'
import { charts, inspect, lookAgain, region, spoken, textOf, unfold } from '../support/browser-page.ts'
import { makePerson } from '../support/people.ts'
import { sharedService } from '../support/service.ts'
import { pageTests, showTable } from './page-tests.ts'
import { air, dayMs, dayWave, hourMs, minuteMs, seed, times } from './seed.ts'
import { gestures, nextRange, plot, press, type ShownRange, shownRange, windowIn } from './shown-range.ts'
import { useSession } from './sign-in-page.ts'

type Colour = readonly [red: number, green: number, blue: number]

/** Columns of a screenshot of a place, at shares of its width: from top to bottom. Another page, without a policy, decodes it. */
async function columnsOf(place: Locator, shares: readonly number[]): Promise<Colour[][]> {
  const png = (await place.screenshot({ animations: 'disabled' })).toString('base64')
  const decoder = await place.page().context().newPage()
  try {
    return (await decoder.evaluate(`(async () => {
      const blob = await (await fetch('data:image/png;base64,${png}')).blob()
      const bitmap = await createImageBitmap(blob)
      const { width, height } = bitmap
      const context = new OffscreenCanvas(width, height).getContext('2d')
      context.drawImage(bitmap, 0, 0)
      return ${JSON.stringify(shares)}.map(share => {
        const { data } = context.getImageData(Math.round(share * width), 0, 1, height)
        return Array.from({ length: height }, (_, row) => [...data.slice(4 * row, 4 * row + 3)])
      })
    })()`)) as Colour[][]
  } finally {
    await decoder.close()
  }
}

/** The name of a custom property, such as `--accent`. */
async function colourOf(page: Page, name: string): Promise<Colour> {
  return (await page.evaluate(`(() => {
    const probe = document.createElement('span')
    probe.style.color = 'var(${name})'
    document.body.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color.match(/\\d+/g).map(Number)
  })()`)) as unknown as Colour
}

/** 0 for the same. */
function difference(one: Colour, other: Colour): number {
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2])
}

const bandOpacity = 0x2b / 255

const markup = '<img src=x onerror=alert(1)>'

const service = await sharedService(t)
const { onDesk, onPhone } = await pageTests(t)
const { url } = service
const startMs = Math.floor(Date.now() / minuteMs) * minuteMs

/** Five days of a daily cycle, a reading every 10 minutes, without two hours of yesterday. */
function history(offset: number, untilMs: number) {
  const isGap = (atMs: number) => atMs > startMs - 20 * hourMs && atMs <= startMs - 18 * hourMs
  return times(untilMs - 5 * dayMs, untilMs).flatMap((atMs, row) => {
    const wave = dayWave(atMs) + Math.sin(atMs) / 10
    // At the turns of the wave, a humidity without noise would be a flat line, which is suspect.
    return isGap(atMs) ? [] : [[atMs, air(offset + 5 * wave, 60 - 10 * wave + 2 * (row % 2))] as const]
  })
}

/** 10 and 30 °C alternate, twice in each of the steps of a week, so that each mean is 20. */
const stepMs = 7.5 * minuteMs
const lastStepMs = Math.floor(startMs / stepMs) * stepMs
const turns = times(lastStepMs - 5 * dayMs, lastStepMs, stepMs).map(
  atMs => [atMs, air((atMs / stepMs) % 2 === 0 ? 10 : 30)] as const,
)

const settings = { expected_interval_seconds: 600, location_short: 'Garden' }
const passwords = await seed(service, {
  'page-garden': { settings, readings: history(12, startMs) },
  'page-old': { settings, readings: history(10, startMs - 6 * hourMs) },
  'page-odd': { settings, readings: [...history(10, startMs), [startMs - 195 * minuteMs, air(61)]] },
  'page-turns': { settings: { expected_interval_seconds: 450, tags: ['yard:1'] }, readings: turns },
  'page-quiet': {
    settings: { ...settings, tags: ['yard:1'], metrics: ['temperature', 'battery_percentage', 'rssi'] },
    readings: times(startMs - 9 * hourMs, startMs - 6 * hourMs).map(
      atMs => [atMs, { temperature: 12, battery_percentage: 4, rssi: -97 }] as const,
    ),
  },
  'page-empty': {},
  [markup]: { settings: { location_short: '<b>bold</b>', tags: ['site:<i>berlin</i>', 'page:1'] } },
})

async function openDevice(page: Page, name: string): Promise<void> {
  await page.goto(`${url}/device/${encodeURIComponent(name)}`)
  // All answers have arrived: the head comes from /latest, and each other answer has its own part.
  await page.locator('.device-head .state').waitFor()
  for (const part of ['Readings', 'Today and earlier days', 'Seasonality']) await region(page, part).waitFor()
}

/** The temperatures of the table, unrounded. */
const temperatures = (page: Page) =>
  page
    .locator('table tr td:nth-of-type(1)')
    .evaluateAll(cells =>
      cells.map(cell => (cell.querySelector('data') === null ? null : Number(cell.querySelector('data')?.value))),
    )

onDesk('measurements of a device and their analyses, with charts by keys alone', async (page, t) => {
  await openDevice(page, 'page-garden')
  const findings = () => textOf(page.locator('.no-findings, .findings'))
  await becomes(t, findings, /No readings for 2 hours from/)
  for (const section of ['Completeness', 'Seasonality', 'Correlations']) await unfold(region(page, section))
  const saysOf = (section: string, pattern: RegExp) => becomes(t, () => textOf(region(page, section)), pattern)
  await becomes(t, () => page.title(), 'page-garden – Barograph')
  await becomes(t, () => textOf(page.locator('dl.now')), /Temperature\s+[\d.]+ °C\s+\d/)
  await saysOf('Completeness', /There was one gap, of 2 hours 10 minutes\./)
  await saysOf('Seasonality', /Temperature has a cycle of 24 hours: it explains 9\d(\.\d)? % of the variance/)
  await saysOf('Seasonality', /All values are the same\./)
  await saysOf('Correlations', /No clear link \(too few independent hours\)\./)
  await becomes(t, () => page.locator('canvas').count(), 3, 'one chart for each metric')

  await page.locator('.device-head').click()
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

onPhone('a phone: a suspect reading is a hollow point, with a word in the table and at the cursor', async (page, t) => {
  await openDevice(page, 'page-odd')
  await page.getByText('Hollow points are suspect readings').waitFor()
  const temperature = page.locator('.panel', { has: page.getByRole('heading', { name: /^Temperature/ }) })
  await becomes(t, () => textOf(temperature.locator('.panel-values')), /suspect/, 'the legend')
  await showTable(page, 'Readings')
  await inspect(t, page, 'device, phone')
  const row = page.getByRole('row').filter({ hasText: '61.0' })
  await becomes(t, () => textOf(row.locator('td').last()), /^Temperature/, 'the table')
  await charts(page).focus()
  await page.keyboard.press('End')
  for (let step = 0, sentence = await spoken(page); step < 30 && !/Temperature 61/.test(sentence); step++) {
    await page.keyboard.press('ArrowLeft')
    sentence = await spoken(page, sentence)
  }
  await becomes(t, () => spoken(page), /Temperature 61\.0 °C \(suspect\)/, 'the cursor')
  await press(page, '7 days')
  await page.getByText('Hollow points are suspect readings').waitFor({ state: 'detached' })
})

onDesk('an old value is grey until a new reading, and a failure keeps the chart', async (page, t) => {
  const listening = page.waitForResponse(/\/api\/events/)
  await openDevice(page, 'page-old')
  await listening
  await becomes(t, () => page.locator('dl.now .old').count(), 3, 'three metrics')
  await becomes(t, () => textOf(page.locator('dl.now .old .age').first()), /^6 h/, 'the age')
  await becomes(t, () => page.locator('dl.now > div:not(.old)').count(), 0)
  await showTable(page, 'Readings')
  const answer = await fetch(`${url}/api/detail_data/page-old?points=800&t=1`)
  const { last_24h } = (await answer.json()) as Partial<Detail>
  const newest = (last_24h?.temperature ?? []).toReversed().map(({ v }) => v)
  t.ok(newest.length > 48)
  await becomes(t, () => temperatures(page), newest.slice(0, 48), 'the numbers of the answer')
  await page.getByRole('button', { name: /Show more/ }).click()
  await becomes(t, () => temperatures(page), newest, 'all')

  // Repeated reads return nothing new, so that new values come from events.
  await page.route(/\/api\/(?:latest|detail_data)\//, route => route.fulfill({ status: 304 }))
  const timestamp = new Date(Math.floor(Date.now() / minuteMs) * minuteMs - 1000).toISOString()
  const body = { device: 'page-old', timestamp, temperature: 33.25, humidity: 44, pressure: 1011.5 }
  t.equal((await service.put('page-old', passwords['page-old'] ?? '', body)).status, 200)
  await page.locator('dl.now').getByText('33.3').waitFor()
  await becomes(t, async () => (await temperatures(page))[0], 33.25, 'the table')
  await charts(page).focus()
  await page.keyboard.press('End')
  await becomes(t, () => spoken(page), /Temperature 33\.3 °C, Humidity 44 %/, 'the cursor')

  const away = { status: 503, json: { status: 'database unavailable' }, headers: { 'retry-after': '1' } }
  await page.route('**/api/**', route => route.fulfill(away))
  await lookAgain(page)
  const banner = /The service cannot read its data at the moment.*Data of \d\d:\d\d\./s
  await becomes(t, () => textOf(page.locator('.banner')), banner, 'the time of the picture')
  await becomes(t, () => page.title(), 'No data – page-old – Barograph')
  await becomes(t, () => page.locator('canvas').count(), 3, 'the charts stay')
  await page.unrouteAll()
  await page.locator('.banner').waitFor({ state: 'detached' })
  await becomes(t, () => page.title(), 'page-old – Barograph')
})

onPhone('a silent device has possible causes, with addresses for administrators only', async (page, t) => {
  const administrator = await makePerson(service, { role: 'administrator' })
  const put = (password: string, temperature: number) =>
    service.put('page-quiet', password, { device: 'page-quiet', temperature })
  t.equal((await put(passwords['page-quiet'] ?? '', 900)).status, 400)
  t.equal((await put('wrong', 12)).status, 401)
  const why = () => textOf(region(page, 'Why?'))
  await page.goto(`${url}/device/page-quiet`)
  await becomes(t, why, /^Why\?\s+Last contact\s+\d.* · 6 h.* ago · reading\n/)
  await becomes(
    t,
    why,
    /Battery at the end\s+4 %\s+Signal at the end\s+−97 dBm\s+Neighbours\s+0 of 1 with yard:1 silent/,
  )
  await becomes(t, why, /The owner and administrators also see rejected readings and failed sign-ins\.$/)
  t.notMatch(await why(), /127\.0\.0\.1|must be between/)
  await inspect(t, page, 'a silent device')
  await useSession(page, url, administrator.cookie)
  await page.reload()
  await becomes(t, why, /Last contact\s+.* · failed sign-in · PUT · address 127\.0\.0\.1\n/)
  t.match(
    await why(),
    /Rejected readings\s+invalid payload: temperature must be .* · once · PUT · device page-quiet · latest/,
  )
  t.match(await why(), /Failed sign-ins\s+unauthorized · once · PUT · address 127\.0\.0\.1 · latest/)
  t.notMatch(await why(), 'The owner and')
  await inspect(t, page, 'a silent device, for an administrator')
  await page.goto(`${url}/device/page-turns`)
  await page.locator('dl.now').waitFor()
  await becomes(t, () => region(page, 'Why?').count(), 0, 'a device that reports')
})

onPhone('a device without readings, a name of markup, and devices that do not exist', async (page, t) => {
  await openDevice(page, 'page-empty')
  await page.getByText('There is no reading yet.').waitFor()
  await page.getByText('There are no readings in this range.').waitFor()
  await openDevice(page, markup)
  await becomes(t, () => textOf(page.getByRole('heading', { level: 1 })), markup, 'the name')
  await becomes(t, () => page.locator('main img').count(), 0)
  await becomes(t, () => page.locator('.device-head .tags li').allInnerTexts(), ['page:1', 'site:<i>berlin</i>'])
  await page.getByRole('link', { name: 'page:1' }).click()
  await page.waitForURL(found => found.search === '?tag=page%3A1')
  await page.getByText(/^1 device\./).waitFor()
  await page.goto(`${url}/device/page-nowhere`)
  await page.getByRole('heading', { name: 'No such device' }).waitFor()
  await inspect(t, page, 'unknown')
  await page.goto(`${url}/compare?a=page-garden&b=page-nowhere`)
  await page.getByText('One of these devices does not exist').waitFor()
})

/** The clock stands where the readings end. */
async function openTurns(page: Page, search = ''): Promise<void> {
  await page.clock.setFixedTime(startMs)
  await page.goto(`${url}/device/page-turns${search}`)
  await charts(page).first().scrollIntoViewIfNeeded()
}

onDesk('the line of the means is drawn over the band of the extremes, by day and by night', async (page, t) => {
  await openTurns(page, '?range=7d')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const [line, card] = [await colourOf(page, '--line-2'), await colourOf(page, '--card')]
    const band = line.map((part, place) => (card[place] as number) + bandOpacity * (part - (card[place] as number)))
    const colours = { line, band: band as unknown as Colour }
    // Six in the evening, where the grid has no line.
    const shares = [1.25, 2.25, 3.25].map(days => 1 - (days + (startMs % dayMs) / dayMs) / 7)
    const read = async () => (await columnsOf(plot(page), shares)).map(column => drawnIn(column, colours))
    await becomes(t, read, Array(3).fill('band, line, band'), colorScheme)
  }
})

/** Colours from top to bottom. The mean is in the middle, and the band has nearly all of the height. */
function drawnIn(column: readonly Colour[], { line, band }: { line: Colour; band: Colour }): string {
  const between = (from: number, to: number) => column.slice(from * column.length, to * column.length)
  // The grid shows through, and colours are rounded.
  const isBand = (colour: Colour) => difference(colour, band) < 4
  const mostly = (part: readonly Colour[]) => part.filter(isBand).length > 0.8 * part.length
  // The edges of a line are blended with the colours below it.
  const isLine = (colour: Colour) => difference(colour, line) < difference(line, band) / 4
  const [above, middle, below] = [between(0.2, 0.4), between(0.4, 0.6), between(0.6, 0.8)]
  const words = [mostly(above) && 'band', middle.some(isLine) && 'line', mostly(below) && 'band']
  return words.map(word => (word === false ? 'something else' : word)).join(', ')
}

onDesk('address, buttons and charts agree while consecutive changes are one entry', async (page, t) => {
  await openTurns(page, '?range=7d')
  await thereAndBack(t, page, [gestures.drag, page => press(page, '24 hours'), gestures.keys])

  await openTurns(page, '?range=7d')
  const before = await shownRange(page)
  const entries = () => page.evaluate('history.length')
  const count = Number(await entries())
  // However long the row takes.
  await page.clock.pauseAt(startMs)
  await gestures.wheel(page)
  await gestures.buttons(page)
  await becomes(t, entries, count + 1)
  await page.clock.runFor(1000)
  const zoomed = await nextRange(t, page, before)
  await becomes(t, entries, count + 1)
  t.ok(windowIn(zoomed).spanMs < 3 * dayMs, 'the wheel with Ctrl shows less')
  await gestures.sidewaysWheel(page)
  await page.clock.runFor(1000)
  const moved = await nextRange(t, page, zoomed)
  t.ok(windowIn(moved).fromMs < windowIn(zoomed).fromMs, 'the wheel alone shows earlier times')
  t.equal(windowIn(moved).spanMs, windowIn(zoomed).spanMs)
})

/** More than any of these changes makes, on however slow a machine. */
const entriesMax = 20

/** Goes through all changes from the first range to the last one, and back. */
async function thereAndBack(t: Test, page: Page, changes: readonly ((page: Page) => Promise<void>)[]): Promise<void> {
  const ranges: ShownRange[] = [await shownRange(page)]
  for (const change of changes) {
    await change(page)
    ranges.push(await nextRange(t, page, ranges.at(-1) as ShownRange))
  }
  const [first, last] = [ranges[0], ranges.at(-1)] as [ShownRange, ShownRange]
  const walk = async (from: ShownRange, to: ShownRange, step: () => Promise<unknown>) => {
    const walked = [from]
    while (walked.at(-1)?.search !== to.search && walked.length <= entriesMax) {
      await step()
      walked.push(await nextRange(t, page, walked.at(-1) as ShownRange))
    }
    t.equal(walked.at(-1)?.search, to.search, `reached within ${entriesMax} entries`)
    return walked
  }
  const back = await walk(last, first, () => page.goBack())
  // There are several entries in the history if the machine was slow.
  t.strictSame(back.filter(range => ranges.some(({ search }) => search === range.search)).reverse(), ranges)
  t.strictSame(await walk(first, last, () => page.goForward()), back.toReversed())
}

onPhone('on a phone two fingers zoom, one moves and dates set the range', async (page, t) => {
  await openTurns(page)
  const before = await shownRange(page)
  await gestures.touch(page)
  const zoomed = await nextRange(t, page, before)
  t.ok(windowIn(zoomed).spanMs < dayMs * 0.6, 'fingers that part show less')
  await gestures.finger(page)
  const moved = await nextRange(t, page, zoomed)
  t.ok(windowIn(moved).fromMs < windowIn(zoomed).fromMs, 'a finger to the right shows earlier times')
  t.equal(windowIn(moved).spanMs, windowIn(zoomed).spanMs)

  const fault = page.locator('.dates-fault')
  await openTurns(page, '?from=2026-11-24T10:00Z')
  await becomes(t, () => fault.innerText(), /^The range in the address cannot be shown/)
  await press(page, '7 days')
  await becomes(t, () => fault.count(), 0)
  const week = await shownRange(page)
  await press(page, 'Dates')
  const local = (atMs: number) => localMinute(atMs, createZone('UTC'))
  const [fromMs, toMs] = [startMs - 3 * dayMs, startMs - dayMs]
  const show = async (first: number, last: number) => {
    await page.getByLabel('From', { exact: true }).fill(local(first))
    await page.getByLabel('To', { exact: true }).fill(local(last))
    await press(page, 'Show')
  }
  await show(toMs, fromMs)
  await becomes(t, () => fault.innerText(), 'The end must be after the start.')
  await inspect(t, page, 'dates')
  await show(fromMs, toMs)
  const chosen = await nextRange(t, page, week)
  t.match(windowIn(chosen), { fromMs, toMs })
  await becomes(t, () => page.getByLabel('From', { exact: true }).count(), 0, 'the form is gone')
})
