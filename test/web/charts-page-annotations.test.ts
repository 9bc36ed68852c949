/** Annotations in a chart of several devices: on its page, by a link to a view of it, and bounded. */

import type { Page } from 'playwright-core'
import t from 'tap'
import type { Annotation } from '../../annotations/annotation.ts'
import { createTimes } from '../../theme/times.ts'
import { buildWeb } from '../../web/build.ts'
import { annotationsMax } from '../../web/charts/annotation-marks.ts'
import { annotatedPanels } from '../../web/pages/charts/annotated-panels.ts'
import { chartPath } from '../../web/pages/charts/chosen-lines.ts'
import { type DrawnLine, linePanels } from '../../web/pages/charts/line-panels.ts'
import { quantitiesOf } from '../../web/text/quantities.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { charts, desk, inBrowser, inspect, phone, region, spoken, textOf } from '../support/browser-page.ts'
import { makePerson } from '../support/people.ts'
import { startService } from '../support/service.ts'

const hourMs = 3_600_000
const stepMs = 600_000

await buildWeb()
const service = await startService(t)
const { url } = service
const { id, cookie } = await makePerson(service, { name: 'Ada', role: 'administrator' })
const startMs = Math.floor(Date.now() / stepMs) * stepMs - 20 * hourMs
const names = ['porch', 'attic', 'cellar']
for (const name of names) await service.addDevice(name, { expected_interval_seconds: 600, owner: id })
const rows = names.flatMap((device, place) =>
  Array.from({ length: 120 }, (_, row) => {
    const at = new Date(startMs + row * stepMs).toISOString()
    return `${at},${device},${(10 + 4 * place + 3 * Math.sin(row / 12)).toFixed(2)},50,1010`
  }),
)
await service.import(`timestamp,device,temperature,humidity,pressure\n${rows.join('\n')}\n`)
const browser = await openBrowser()
t.teardown(() => browser.close())

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { cookie, origin: url, 'content-type': 'application/json' }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

const at = (hours: number) => new Date(startMs + hours * hourMs).toISOString()
for (const annotation of [
  { device: 'porch', from: at(4), to: at(8), text: 'window open' },
  { device: 'attic', from: at(10), to: null, text: 'fan changed' },
  { device: 'cellar', from: at(5), to: null, text: 'pump stopped' },
  { device: 'porch', from: at(-24 * 30), to: null, text: 'long ago' },
  { device: null, from: at(0), to: at(15), text: 'heating season' },
])
  await post('/api/annotations', annotation)

const line = (device: string, metric = 'temperature') => ({ metric, device })
const two = chartPath([line('porch'), line('porch', 'humidity'), line('attic'), line('nowhere')])
const section = (page: Page) => region(page, 'Annotations')
const listed = (page: Page) => section(page).locator('li').allInnerTexts()

for (const [name, options] of Object.entries({ desk, phone })) {
  t.test(`${name}: a chart has the annotations of its devices, each named`, async t => {
    await inBrowser(t, browser, options, async page => {
      const asked: string[] = []
      page.on('request', request => {
        if (request.url().includes('/annotations')) asked.push(new URL(request.url()).pathname)
      })
      await page.goto(`${url}${two}`)
      await becomes(t, () => section(page).locator('li').count(), 3)
      const [season = '', open = '', fan = ''] = await listed(page)
      t.match(season, /heating season about all devices/)
      t.match(open, /window open about porch/)
      t.match(fan, /fan changed about attic/)
      const once = ['/api/device/porch/annotations', '/api/device/attic/annotations']
      t.strictSame(new Set(asked), new Set(once))
      t.equal(asked.length, once.length, 'one request each')
      await becomes(t, () => textOf(page.locator('.panel h3').nth(0)), /^Left: °C; right: %/)
      await becomes(t, () => textOf(page.locator('.panel h3').nth(1)), /^Annotations/)
      await charts(page).focus()
      await page.keyboard.press('End')
      const first = await spoken(page)
      await page.keyboard.press('Home')
      const last = await spoken(page, first)
      t.match(`${first} ${last}`, /Annotations all devices: heating season \(/)
      await page.getByRole('button', { name: /Show as table/ }).click()
      const table = region(page, 'Annotations in this range')
      await becomes(t, () => textOf(table.locator('tbody tr').nth(2)), /fan changed\s+attic/)
      await inspect(t, page, `annotations, ${name}`)
    })
  })
}

t.test('of one device, its name is not repeated', async t => {
  await inBrowser(t, browser, desk, async page => {
    await page.goto(`${url}${chartPath([line('porch'), line('porch', 'humidity')])}`)
    await becomes(t, () => section(page).locator('li').count(), 2)
    await becomes(t, async () => (await listed(page))[1], /window open$/)
  })
})

t.test(
  'a link to a view of the chart shows them without who wrote them, in a document of its own and on a wall',
  async t => {
    const view = await post('/v1/auth/me/views', { name: 'Chart', address: two.replace(/&line=[^&]*nowhere/, '') })
    const { token } = await post(`/v1/auth/me/views/${String(view['id'])}/links`, { expires_in_days: 7 })
    await inBrowser(t, browser, desk, async page => {
      await page.goto(`${url}/shared#${String(token)}`)
      await becomes(t, () => section(page).locator('li').count(), 3)
      await becomes(t, async () => (await listed(page)).filter(text => text.includes(' by ')), [])
    })
    await inBrowser(t, browser, { viewport: { width: 1920, height: 1080 } }, async page => {
      await page.goto(`${url}/wall#${String(token)}`)
      await becomes(t, () => section(page).locator('li').count(), 3)
      await becomes(t, async () => (await listed(page))[0], /fan changed about attic/, 'the newest first')
      await page.locator('.wall-chart canvas').waitFor()
      await inspect(t, page, 'annotations on a wall')
      const excess = () => page.evaluate('document.documentElement.scrollHeight - innerHeight')
      await becomes(t, excess, 0, 'nothing is below the screen')
    })
  },
)

t.test('of many the newest are shown, and the page says of how many', async t => {
  await inBrowser(t, browser, desk, async page => {
    const annotations = Array.from({ length: annotationsMax + 20 }, (_, place) => {
      const from = new Date(startMs + place * 60_000).toISOString()
      return { id: place, device: 'porch', from, to: null, text: `text ${place}`, by: null, written_at: from }
    })
    const answer = { device: 'porch', may_annotate: false, may_annotate_all: false, annotations }
    await page.route('**/api/device/porch/annotations', route => route.fulfill({ json: answer }))
    await page.route('**/api/device/attic/annotations', route =>
      route.fulfill({ status: 503, json: { detail: 'full' } }),
    )
    await page.goto(`${url}${two}`)
    await section(page).getByText('The newest 100 of 120 annotations in this range are shown.').waitFor()
    await becomes(t, () => section(page).locator('li').count(), annotationsMax)
    await becomes(t, async () => (await listed(page))[0], /text 20 /)
    await section(page).getByText('The annotations of attic could not be read.').waitFor()
  })
})

t.test('a timeline of annotations has the width of the charts above it', async t => {
  const quantities = quantitiesOf()
  const drawn = ['temperature', 'humidity'].map((metric, place): DrawnLine => {
    return { place, device: 'porch', metric, quantity: quantities.of(metric), timesMs: [0, stepMs], values: [1, 2] }
  })
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
