/** Annotations on the page of a device, in a browser, on the whole service. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { createTimes } from '../../theme/times.ts'
import { buildWeb } from '../../web/build.ts'
import {
  annotationPanel,
  annotationsIn,
  annotationsMax,
  marksOf,
  withAnnotations,
} from '../../web/charts/annotation-marks.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { charts, desk, inBrowser, inspect, phone, region, spoken, textOf } from '../support/browser-page.ts'
import { makePerson } from '../support/people.ts'
import { startService } from '../support/service.ts'

const hourMs = 3_600_000

await buildWeb()
const service = await startService(t, { environment: { TIME_ZONE: 'Europe/Berlin' } })
const { url } = service
const owner = await makePerson(service, { name: 'Ada' })
await service.addDevice('porch', { expected_interval_seconds: 600, owner: owner.id })
const startMs = Date.now() - 30 * hourMs
const rows = Array.from({ length: 180 }, (_, row) => {
  const at = new Date(startMs + row * 600_000).toISOString()
  return `${at},porch,${(10 + 5 * Math.sin(row / 20)).toFixed(2)},50,1010`
})
await service.import(`timestamp,device,temperature,humidity,pressure\n${rows.join('\n')}\n`)
const browser = await openBrowser()
t.teardown(() => browser.close())

async function open(page: Page, cookie?: string): Promise<void> {
  const [name = '', value = ''] = cookie?.split(/=(.*)/s) ?? []
  if (cookie !== undefined) await page.context().addCookies([{ name, value, url }])
  await page.goto(`${url}/device/porch`)
  await charts(page).waitFor()
}

const section = (page: Page) => region(page, 'Annotations')

t.test('who owns the device writes an annotation, changes it and removes it', async t => {
  await inBrowser(t, browser, desk, async page => {
    await open(page, owner.cookie)
    await section(page).getByRole('button', { name: 'Annotate' }).click()
    const from = await section(page).locator('input[name=from]').inputValue()
    t.match(from, /^\d{4}-\d\d-\d\dT\d\d:\d\d$/, 'it begins at the present')
    await section(page).locator('input[name=text]').fill('filter changed')
    await inspect(t, page, 'the form')
    await section(page).getByRole('button', { name: 'Write' }).click()
    await becomes(t, () => textOf(section(page).locator('li')), /filter changed by Ada/)
    await section(page).getByRole('button', { name: 'Change filter changed' }).click()
    await section(page).locator('input[name=text]').fill('fan changed')
    const hourBefore = new Date(Date.parse(`${from}Z`) - 2 * hourMs).toISOString().slice(0, 16)
    await section(page).locator('input[name=from]').fill(hourBefore)
    await section(page).locator('input[name=to]').fill(from)
    await section(page).getByRole('button', { name: 'Save' }).click()
    await becomes(t, () => textOf(section(page).locator('li')), /fan changed by Ada/)
    await becomes(t, () => page.locator('.panel h3').filter({ hasText: 'Annotations' }).count(), 1, 'a timeline')
    await charts(page).focus()
    await page.keyboard.press('End')
    await becomes(t, () => spoken(page), /Annotations fan changed \(/)
    await region(page, 'Readings')
      .getByRole('button', { name: /Show as table/ })
      .click()
    await becomes(
      t,
      () => textOf(page.locator('caption').filter({ hasText: 'Annotations' })),
      'Annotations in this range',
    )
    await inspect(t, page, 'an annotation')
  })
})

t.test('everybody else sees them without a form', async t => {
  await inBrowser(t, browser, phone, async page => {
    await open(page)
    await becomes(t, () => textOf(section(page).locator('li')), /fan changed/)
    await becomes(t, async () => (await textOf(section(page))).includes(' by '), false)
    await becomes(t, () => section(page).getByRole('button').count(), 0)
    await inspect(t, page, 'on a phone')
  })
})

t.test('it is removed', async t => {
  await inBrowser(t, browser, desk, async page => {
    await open(page, owner.cookie)
    await section(page).getByRole('button', { name: 'Remove fan changed' }).click()
    await becomes(t, () => section(page).locator('li').count(), 0)
    await becomes(t, () => page.locator('.panel h3').filter({ hasText: 'Annotations' }).count(), 0)
  })
})

t.test('annotations are shown where they lie in the window', async t => {
  const written = (id: number, from: string, to: string | null) => {
    return { id, device: 'porch', from, to, text: `text ${id}`, by: null, written_at: from }
  }
  const window = { fromMs: Date.parse('2026-05-04T00:00:00Z'), toMs: Date.parse('2026-05-05T00:00:00Z') }
  const shown = annotationsIn(
    [
      written(1, '2026-05-03T00:00:00Z', '2026-05-04T00:00:00Z'),
      written(2, '2026-05-03T00:00:00Z', '2026-05-04T06:00:00Z'),
      written(3, '2026-05-03T23:59:59Z', null),
      written(4, '2026-05-04T12:00:00Z', null),
      written(5, '2026-05-05T00:00:00Z', null),
    ],
    window,
  )
  t.strictSame(
    shown.map(({ id }) => id),
    [2, 4],
  )
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

t.test('of many the newest are shown, and the page says of how many', async t => {
  await inBrowser(t, browser, desk, async page => {
    const annotations = Array.from({ length: annotationsMax + 20 }, (_, place) => {
      const from = new Date(startMs + 20 * hourMs + place * 60_000).toISOString()
      return { id: place, device: 'porch', from, to: null, text: `text ${place}`, by: null, written_at: from }
    })
    const answer = { device: 'porch', may_annotate: false, may_annotate_all: false, annotations }
    await page.route('**/api/device/porch/annotations', route => route.fulfill({ json: answer }))
    await open(page)
    await section(page).getByText('The newest 100 of 120 annotations in this range are shown.').waitFor()
    await becomes(t, () => section(page).locator('li').count(), annotationsMax)
    await becomes(t, () => textOf(section(page).locator('li').first()), /text 20$/)
    await inspect(t, page, 'many annotations')
  })
})
