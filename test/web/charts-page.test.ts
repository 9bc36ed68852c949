/** Lines of several devices and metrics in one chart, and annotations in it and on the pages of devices. */

import type { Page } from 'playwright-core'
import t from 'tap'
import type { Annotation } from '../../auth/annotations/annotation.ts'
import {
  annotationPanel,
  annotationsIn,
  annotationsMax,
  marksOf,
  withAnnotations,
} from '../../web/charts/annotation-marks.ts'
import { chartPath, chosenLines, linesMax } from '../../web/pages/charts/chosen-lines.ts'
import { annotatedPanels, type DrawnLine, linePanels, lineTable, looksOf } from '../../web/pages/charts/line-panels.ts'
import { quantitiesOf } from '../../web/text/quantities.ts'
import { createTimes } from '../../web/theme/times.ts'
import { becomes } from '../support/becomes.ts'
import { charts, inBrowser, inspect, phone, region, spoken, textOf } from '../support/browser-page.ts'
import { makePerson } from '../support/people.ts'
import { sharedService } from '../support/service.ts'
import { pageTests, showTable } from './page-tests.ts'
import { air, hourMs, minuteMs, requestsOf, seed, times } from './seed.ts'
import { useSession } from './sign-in-page.ts'

const stepMs = 10 * minuteMs
const quantities = quantitiesOf()
const looks = looksOf(
  ['temperature', 'humidity', 'dew_point', 'temperature', 'pressure'].map(metric => ({ metric, device: '' })),
)

function line(place: number, device: string, metric: string, values: readonly number[]): DrawnLine {
  const timesMs = values.map((_, row) => row * stepMs)
  const look = looks[place] as DrawnLine['look']
  return { place, look, device, metric, quantity: quantities.of(metric), timesMs, values }
}

const service = await sharedService(t)
const { url } = service
const owner = await makePerson(service, { name: 'Ada' })
const startMs = Math.floor(Date.now() / stepMs) * stepMs - 20 * hourMs
const seeds = ['charts-porch', 'charts-attic', 'charts-cellar'].map((device, place) => {
  const readings = times(startMs, startMs + 119 * stepMs).map((atMs, row) => {
    return [atMs, air(10 + 4 * place + 3 * Math.sin(row / 12), 50 - 5 * place, 1000 + row / 20)] as const
  })
  return [device, { settings: { expected_interval_seconds: 600, owner: owner.id }, readings }] as const
})
await seed(service, Object.fromEntries(seeds))
const { browser, on, onDesk, onPhone } = await pageTests(t)

const chosen = (page: Page) => page.getByRole('list', { name: 'Lines' }).locator('li')
const section = (page: Page) => region(page, 'Annotations')
const listed = (page: Page) => section(page).locator('li').allInnerTexts()

onDesk('lines are added and removed in the address', async (page, t) => {
  await page.goto(`${url}/charts`)
  await page.getByText('Choose a device and one of its metrics.').waitFor()
  const add = async (metric: string) => {
    await page.getByRole('combobox', { name: 'Metric' }).selectOption(metric)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
  }
  await page.getByLabel('Device', { exact: true }).fill('charts-porch')
  await page.getByLabel('Device', { exact: true }).press('Tab')
  await add('Humidity')
  await charts(page).waitFor()
  t.equal(new URL(page.url()).search, '?line=humidity%3Acharts-porch')
  await add('Temperature')
  await becomes(t, () => chosen(page).count(), 2)
  await becomes(t, () => textOf(page.locator('.panel h3').first()), /Left: %; right: °C/)
  await charts(page).focus()
  await page.keyboard.press('End')
  await becomes(t, () => spoken(page), /charts-porch, humidity 50 %, .*charts-porch, temperature \d+\.\d °C/)
  await page.getByRole('button', { name: 'Remove charts-porch, humidity' }).click()
  await becomes(t, () => chosen(page).count(), 1)
  t.equal(new URL(page.url()).search, '?line=temperature%3Acharts-porch')
  await page.goBack()
  await becomes(t, () => chosen(page).count(), 2, 'the way back')

  const lines = [
    { metric: 'temperature', device: 'charts-nowhere' },
    { metric: 'co2', device: 'charts-porch' },
    { metric: 'temperature', device: 'charts-porch' },
  ]
  await page.goto(`${url}${chartPath(lines)}`)
  await charts(page).waitFor()
  await becomes(t, () => page.getByText(/there is no such device/).count(), 2)
  await page.goto(`${url}${chartPath(lines)}&from=2020-01-01T00:00Z&to=2020-01-02T00:00Z`)
  await page.getByText('There are no readings in this range.').waitFor()
})

onPhone('a phone: a link shows eight lines', async (page, t) => {
  const metrics = ['temperature', 'humidity', 'pressure']
  const all = metrics.flatMap(metric => seeds.map(([device]) => ({ metric, device })))
  await page.goto(`${url}${chartPath(all)}`)
  await becomes(t, () => page.locator('.panel').count(), 2)
  await becomes(t, () => chosen(page).count(), 8)
  await page.getByText('Only the first 8 lines of the address are shown.').waitFor()
  await becomes(t, () => page.getByRole('button', { name: 'Add', exact: true }).count(), 0)
  await page.getByRole('button', { name: /Show as table/ }).click()
  await becomes(t, () => page.locator('.twin thead th').count(), 9)
  await page.getByRole('button', { name: /Hide table/ }).click()
  await inspect(t, page, 'eight lines, phone')
})

onDesk('the owner of a device adds an annotation, changes it and removes it', async (page, t) => {
  await useSession(page, url, owner.cookie)
  await page.goto(`${url}/device/charts-porch`)
  await charts(page).waitFor()
  await section(page).getByRole('button', { name: 'Annotate' }).click()
  const from = await section(page).locator('input[name=from]').inputValue()
  t.match(from, /^\d{4}-\d\d-\d\dT\d\d:\d\d$/, 'it begins at the present')
  await section(page).locator('input[name=text]').fill('filter changed')
  await inspect(t, page, 'the form')
  await section(page).getByRole('button', { name: 'Write' }).click()
  await becomes(t, () => textOf(section(page).locator('li')), /filter changed by Ada/)
  await section(page).getByRole('button', { name: 'Change filter changed' }).click()
  await section(page).locator('input[name=text]').fill('fan changed')
  const hoursBefore = new Date(Date.parse(`${from}Z`) - 2 * hourMs).toISOString().slice(0, 16)
  await section(page).locator('input[name=from]').fill(hoursBefore)
  await section(page).locator('input[name=to]').fill(from)
  await section(page).getByRole('button', { name: 'Save' }).click()
  await becomes(t, () => textOf(section(page).locator('li')), /fan changed by Ada/)
  const timeline = page.locator('.panel h3').filter({ hasText: 'Annotations' })
  await becomes(t, () => timeline.count(), 1, 'a timeline')
  await charts(page).focus()
  await page.keyboard.press('End')
  await becomes(t, () => spoken(page), /Annotations fan changed \(/)
  await showTable(page, 'Readings')
  const caption = page.locator('caption').filter({ hasText: 'Annotations' })
  await becomes(t, () => textOf(caption), 'Annotations in this range')
  await inBrowser(t, browser, phone, async other => {
    await other.goto(`${url}/device/charts-porch`)
    await becomes(t, () => textOf(section(other).locator('li')), /fan changed/)
    await becomes(t, async () => (await textOf(section(other))).includes(' by '), false, 'everybody else sees less')
    await becomes(t, () => section(other).getByRole('button').count(), 0)
  })
  await section(page).getByRole('button', { name: 'Remove fan changed' }).click()
  await becomes(t, () => section(page).locator('li').count(), 0)
  await becomes(t, () => timeline.count(), 0)
})

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { cookie: owner.cookie, origin: url, 'content-type': 'application/json' }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

/** Shows the view of the test before. */
let token = ''

onDesk('a chart has the annotations of its devices', async (page, t) => {
  const at = (hours: number) => new Date(startMs + hours * hourMs).toISOString()
  for (const [device, text, from, to = null] of [
    ['charts-porch', 'window open', at(4), at(8)],
    ['charts-attic', 'fan changed', at(10)],
    ['charts-cellar', 'pump stopped', at(5)],
    ['charts-porch', 'long ago', at(-24 * 30)],
  ] as const)
    await post('/api/annotations', { device, text, from, to })
  const lines = [
    { metric: 'temperature', device: 'charts-porch' },
    { metric: 'humidity', device: 'charts-porch' },
    { metric: 'temperature', device: 'charts-attic' },
  ]
  const view = await post('/v1/auth/me/views', { name: 'Chart', address: chartPath(lines) })
  const link = await post(`/v1/auth/me/views/${String(view['id'])}/links`, { expires_in_days: 7 })
  token = String(link['token'])
  const asked = requestsOf(page)
  await page.goto(`${url}${chartPath([...lines, { metric: 'temperature', device: 'charts-nowhere' }])}`)
  await becomes(t, () => section(page).locator('li').count(), 2)
  const [open = '', fan = ''] = await listed(page)
  t.match(open, /window open about charts-porch/)
  t.match(fan, /fan changed about charts-attic/)
  const paths = asked.map(({ pathname }) => pathname).filter(path => path.endsWith('/annotations'))
  t.equal(paths.length, new Set(paths).size, 'one request each')
  await becomes(t, () => textOf(page.locator('.panel h3').nth(1)), /^Annotations/)
  await inspect(t, page, 'annotations in a chart')
  await page.getByRole('button', { name: /Show as table/ }).click()
  const table = region(page, 'Annotations in this range')
  await becomes(t, () => textOf(table.locator('tbody tr').nth(1)), /fan changed\s+charts-attic/)
  await page.goto(`${url}${chartPath(lines.slice(0, 2))}`)
  await becomes(t, async () => (await listed(page))[0], /window open$/, 'of one device, its name is not repeated')

  const many = Array.from({ length: annotationsMax + 20 }, (_, place) => {
    const from = new Date(startMs + place * minuteMs).toISOString()
    const device = place === annotationsMax + 19 ? null : 'charts-porch'
    return { id: place, device, from, to: null, text: `text ${place}`, by: null, written_at: from }
  })
  const answer = { device: 'charts-porch', may_annotate: false, may_annotate_all: false, annotations: many }
  await page.route('**/api/device/charts-porch/annotations', route => route.fulfill({ json: answer }))
  const full = { status: 503, json: { detail: 'full' } }
  await page.route('**/api/device/charts-attic/annotations', route => route.fulfill(full))
  await page.goto(`${url}${chartPath(lines)}`)
  await section(page).getByText('The newest 100 of 120 annotations in this range are shown.').waitFor()
  await becomes(t, () => section(page).locator('li').count(), annotationsMax)
  await becomes(t, async () => (await listed(page))[0], /text 20 /)
  await becomes(t, async () => (await listed(page)).at(-1), /about all devices/)
  await section(page).getByText('The annotations of charts-attic could not be read.').waitFor()
})

on({ viewport: { width: 1920, height: 1080 } })(
  'a link and a wall show the chart with its annotations',
  async (page, t) => {
    await page.goto(`${url}/shared#${token}`)
    await becomes(t, () => section(page).locator('li').count(), 2)
    await becomes(t, async () => (await listed(page)).filter(text => text.includes(' by ')), [])
    await page.goto(`${url}/wall#${token}`)
    await becomes(t, async () => (await listed(page))[0], /fan changed about charts-attic/, 'the newest first')
    const values = () => page.locator('.wall-value').allInnerTexts()
    await becomes(t, async () => (await values()).join(), /^[\d.]+\u202f°C,50\u202f%,[\d.]+\u202f°C$/, 'last values')
    await page.locator('.wall-chart canvas').waitFor()
    await inspect(t, page, 'wall of charts')
    const excess = () => page.evaluate('document.documentElement.scrollHeight - innerHeight')
    await becomes(t, excess, 0, 'nothing is below the screen')
  },
)

t.test('annotations are shown where they lie in the window', async t => {
  const written = (from: string, to: string | null, id: number) => {
    return { id, device: 'porch', from, to, text: `text ${id}`, by: null, written_at: from }
  }
  const window = { fromMs: Date.parse('2026-05-04T00:00:00Z'), toMs: Date.parse('2026-05-05T00:00:00Z') }
  const times = [
    ['2026-05-03T00:00:00Z', '2026-05-04T00:00:00Z'],
    ['2026-05-03T00:00:00Z', '2026-05-04T06:00:00Z'],
    ['2026-05-03T23:59:59Z', null],
    ['2026-05-04T12:00:00Z', null],
    ['2026-05-05T00:00:00Z', null],
  ] as const
  const shown = annotationsIn(
    times.map(([from, to], at) => written(from, to, at + 1)),
    window,
  )
  t.equal(shown.map(({ id }) => id).join(), '2,4')
  const marks = marksOf(shown, window, createTimes('UTC'))
  const panel = annotationPanel(marks)
  const [readout] = panel?.readouts ?? []
  t.equal(readout?.textAt?.(window.fromMs), 'text 2 (3 May 2026, 00:00 – 4 May 2026, 06:00)')
  t.equal(readout?.textAt?.(window.fromMs + 12 * hourMs), 'text 4 (4 May 2026, 12:00)')
  t.equal(readout?.textAt?.(window.fromMs + 7 * hourMs), null)
  t.equal(annotationPanel([]), undefined)
  const spans = { fromMs: window.fromMs, toMs: window.toMs, wash: '--bad-wash', colour: '--bad' }
  const content = { columns: { timesMs: [], lines: [] }, lines: [], decimals: 1, spans: [spans] }
  const other = { key: 'a', title: 'A', unit: '', decimals: 1, height: 100, content, readouts: [], reachMs: 0 }
  t.match(withAnnotations(other, shown).content.spans, [
    { fromMs: Date.parse('2026-05-03T00:00:00Z') },
    { fromMs: window.fromMs + 12 * hourMs, toMs: window.fromMs + 12 * hourMs },
    spans,
  ])
})

t.test('a timeline of annotations has the width of the charts above it', async t => {
  const drawn = [line(0, 'porch', 'temperature', [1, 2]), line(1, 'porch', 'humidity', [1, 2])]
  const window = { fromMs: 0, toMs: 10 * stepMs }
  const context = { window, times: createTimes('UTC') }
  const from = new Date(stepMs).toISOString()
  const shown: Annotation[] = [{ id: 1, device: 'porch', from, to: null, text: 'a', by: null, written_at: from }]
  const [main, below] = annotatedPanels(linePanels(drawn, stepMs), { shown, hasNames: true }, context)
  t.match(main?.content.spans, [{ fromMs: stepMs, toMs: stepMs }])
  t.equal(below?.content.right, 'room')
  t.equal(below?.readouts[0]?.textAt?.(stepMs), 'porch: a (1 Jan 1970, 00:10)')
  const [, narrow] = annotatedPanels(linePanels(drawn.slice(0, 1), stepMs), { shown, hasNames: false }, context)
  t.equal(narrow?.content.right, undefined)
  t.equal(narrow?.readouts[0]?.textAt?.(stepMs), 'a (1 Jan 1970, 00:10)')
  t.strictSame(annotatedPanels([], { shown, hasNames: false }, context), [])
})

t.test('the address holds the lines', async t => {
  const lines = [
    { metric: 'temperature', device: 'porch' },
    { metric: 'humidity', device: 'a:b, c' },
  ]
  t.strictSame(chosenLines(new URL(chartPath(lines), 'http://x').searchParams), lines)
  const fields = (...texts: string[]) => new URLSearchParams(texts.map((text): [string, string] => ['line', text]))
  t.strictSame(chosenLines(fields('temperature', ':porch', 'Temperature:porch', 'temperature:')), [])
  t.equal(chosenLines(fields('co2:a', 'co2:a')).length, 1)
  t.equal(chosenLines(fields(...Array.from({ length: 12 }, (_, place) => `co2:${place}`))).length, linesMax)
})

t.test('two units have an axis each and further ones a panel each', async t => {
  const drawn = [
    line(0, 'porch', 'temperature', [1, 2, 3]),
    line(1, 'porch', 'humidity', [50, 51, 52]),
    line(3, 'attic', 'temperature', [4, 5, 6]),
    line(4, 'attic', 'pressure', [1000, 1001, 1002]),
  ]
  const [main, small, ...others] = linePanels(drawn, stepMs)
  t.strictSame(others, [])
  t.equal(main?.title, 'Left: °C; right: %')
  const lines = main?.content.lines.map(({ colour, isRight }) => `${colour} ${isRight}`)
  t.strictSame(lines, ['--line-2 false', '--line-4 false', '--line-5 true'])
  t.match(small, { title: 'hPa', content: { right: 'room' } })
  t.equal(main?.readouts.map(({ textAt }) => textAt?.(stepMs)).join(), '2.0\u202f°C,5.0\u202f°C,51\u202f%')
  t.equal(main?.readouts[0]?.textAt?.(20 * stepMs), null)
  t.equal(linePanels(drawn.slice(0, 1), stepMs)[0]?.content.right, undefined)
  t.strictSame(linePanels([], stepMs), [])
  const table = lineTable(drawn, { fromMs: 0, toMs: 10 * stepMs }, createTimes('UTC'))
  t.equal(table.columns[0]?.name, 'porch, temperature, °C')
  t.strictSame(table.rows[0]?.cells, [3, 52, 6, 1002])
})

t.test('no two lines have the same dashes', async t => {
  const dashes = looksOf(Array.from({ length: linesMax }, () => ({ metric: 'co2', device: '' }))).map(({ dash }) =>
    dash.join(),
  )
  t.equal(new Set(dashes).size, linesMax)
})
