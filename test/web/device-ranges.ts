/** Tests of the range of the charts: what is drawn, and that address, buttons and charts agree, also back and forward. */

import type { Browser, Page } from 'playwright-core'
import type { Test } from 'tap'
import { localMinute } from '../../web/charts/custom-range.ts'
import { createZone } from '../../web/text/zone.ts'
import { becomes } from '../support/becomes.ts'
import { charts, desk, inBrowser, inspect, phone } from '../support/browser-page.ts'
import { type Colour, colourOf, difference, type Picture, pictureOf } from '../support/pixels.ts'
import { gestures, nextRange, plot, press, type ShownRange, shownRange, windowIn } from '../support/shown-range.ts'

const dayMs = 86_400_000

export interface PagesUnderTest {
  readonly browser: Browser
  readonly url: string
  /** When the readings end; the clock of the pages stands there. */
  readonly nowMs: number
  /** Its temperature alternates between 10 and 30 °C for five days, so that each step has the mean 20. */
  readonly device: string
  readonly other: string
}

async function open(page: Page, { url, nowMs }: PagesUnderTest, path: string): Promise<void> {
  await page.clock.setFixedTime(nowMs)
  await page.goto(`${url}${path}`)
  await charts(page).first().scrollIntoViewIfNeeded()
}

/** Each range that has means, by day and by night. */
export function testBands(t: Test, pages: PagesUnderTest): void {
  for (const range of ['7d', '30d', '365d']) {
    t.test(`${range}: the line of the means is drawn over the band of the extremes`, async t => {
      await inBrowser(t, pages.browser, desk, async page => {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          await open(page, pages, `/device/${pages.device}?range=${range}`)
          const colours = { line: await colourOf(page, '--accent'), band: await colourOf(page, '--accent-wash') }
          const shares = [2, 2.5, 3].map(days => 1 - days / Number.parseInt(range, 10))
          const read = async () => {
            const picture = await pictureOf(plot(page))
            return shares.map(share => drawnAt(picture, share, colours))
          }
          await becomes(t, read, Array(3).fill('band, line, band'), colorScheme)
        }
      })
    })
  }
}

/** From the top to the bottom, at a share of the width. The mean is in the middle, and the band nearly all of the height. */
function drawnAt(picture: Picture, share: number, { line, band }: { line: Colour; band: Colour }): string {
  const pixels = (from: number, to: number) => column(picture, Math.round(share * picture.width), from, to)
  const isBand = (colour: Colour) => difference(colour, band) === 0
  // The edges of a line are blended with what lies below it.
  const isLine = (colour: Colour) => difference(colour, line) < difference(line, band) / 4
  const [above, middle, below] = [pixels(0.2, 0.4), pixels(0.4, 0.6), pixels(0.6, 0.8)]
  const words = [above.every(isBand) && 'band', middle.some(isLine) && 'line', below.every(isBand) && 'band']
  return words.map(word => (word === false ? 'something else' : word)).join(', ')
}

/** The pixels between two shares of the height. */
function column(picture: Picture, x: number, from: number, to: number): Colour[] {
  const first = Math.round(from * picture.height)
  return Array.from({ length: Math.round((to - from) * picture.height) }, (_, row) => picture.at(x, first + row))
}

export function testGestures(t: Test, pages: PagesUnderTest): void {
  t.test('the wheel zooms with Ctrl and moves sideways; keys do the same', async t => {
    await inBrowser(t, pages.browser, desk, async page => {
      await open(page, pages, `/device/${pages.device}`)
      const before = await shownRange(page)
      await gestures.wheel(page)
      const zoomed = await nextRange(t, page, before)
      t.ok(windowIn(zoomed).spanMs < dayMs / 2, 'less is shown')
      await gestures.sidewaysWheel(page)
      const moved = await nextRange(t, page, zoomed)
      t.ok(windowIn(moved).fromMs < windowIn(zoomed).fromMs, 'earlier times')
      t.equal(windowIn(moved).spanMs, windowIn(zoomed).spanMs)
      await charts(page).focus()
      await page.keyboard.press('Shift+ArrowRight')
      const back = await nextRange(t, page, moved)
      t.ok(windowIn(back).fromMs > windowIn(moved).fromMs, 'later times')
      await page.keyboard.press('-')
      const wider = await nextRange(t, page, back)
      t.ok(windowIn(wider).spanMs > windowIn(back).spanMs, 'more is shown')
    })
  })
  t.test('two fingers zoom, one moves the range', async t => {
    await inBrowser(t, pages.browser, phone, async page => {
      await open(page, pages, `/device/${pages.device}`)
      const before = await shownRange(page)
      await gestures.touch(page)
      const zoomed = await nextRange(t, page, before)
      t.ok(windowIn(zoomed).spanMs < dayMs * 0.6, 'fingers that part show less')
      await gestures.finger(page)
      const moved = await nextRange(t, page, zoomed)
      t.ok(windowIn(moved).fromMs < windowIn(zoomed).fromMs, 'a finger to the right shows earlier times')
      t.equal(windowIn(moved).spanMs, windowIn(zoomed).spanMs)
    })
  })
}

export function testHistory(t: Test, pages: PagesUnderTest): void {
  for (const [name, gesture] of Object.entries(gestures)) {
    t.test(`${name}: address, buttons and charts agree, also back and forward`, async t => {
      await inBrowser(t, pages.browser, name === 'touch' || name === 'finger' ? phone : desk, async page => {
        await open(page, pages, `/device/${pages.device}?range=7d`)
        await thereAndBack(t, page, [gesture, page => press(page, '24 hours'), gesture])
      })
    })
  }
  t.test('presets: address, buttons and charts agree, also back and forward', async t => {
    await inBrowser(t, pages.browser, desk, async page => {
      await open(page, pages, `/device/${pages.device}?range=7d`)
      await thereAndBack(t, page, [page => press(page, '30 days'), page => press(page, '24 hours')])
    })
  })
  t.test('two devices: address, buttons and charts agree, also back and forward', async t => {
    await inBrowser(t, pages.browser, desk, async page => {
      await open(page, pages, `/compare?a=${pages.device}&b=${pages.other}`)
      await thereAndBack(t, page, [gestures.drag, page => press(page, '30 days'), gestures.keys])
    })
  })
  t.test('changes in a row are one entry of the history', async t => {
    await inBrowser(t, pages.browser, desk, async page => {
      await open(page, pages, `/device/${pages.device}?range=7d`)
      const before = await shownRange(page)
      const entries = () => page.evaluate('history.length')
      const count = Number(await entries())
      // However long the row takes.
      await page.clock.pauseAt(pages.nowMs)
      await gestures.wheel(page)
      await gestures.buttons(page)
      await becomes(t, entries, count + 1)
      await page.clock.runFor(1000)
      await nextRange(t, page, before)
      await becomes(t, entries, count + 1)
    })
  })
}

/** A range by two dates, on the clock of the page; a wrong one is told, also in the address. */
export function testDates(t: Test, pages: PagesUnderTest): void {
  for (const [name, options] of Object.entries({ desk, phone })) {
    t.test(`${name}: dates choose the range`, async t => {
      await inBrowser(t, pages.browser, options, async page => {
        const fault = page.locator('.dates-fault')
        await open(page, pages, `/device/${pages.device}?from=2026-11-24T10:00Z`)
        await becomes(t, () => fault.innerText(), /^The range in the address cannot be shown/)
        await press(page, '7 days')
        await becomes(t, () => fault.count(), 0)
        const before = await shownRange(page)
        await press(page, 'Dates')
        const local = (atMs: number) => localMinute(atMs, createZone('Europe/Berlin'))
        const [fromMs, toMs] = [pages.nowMs - 3 * dayMs, pages.nowMs - dayMs]
        await page.getByLabel('From', { exact: true }).fill(local(toMs))
        await page.getByLabel('To', { exact: true }).fill(local(fromMs))
        await press(page, 'Show')
        await becomes(t, () => fault.innerText(), 'The end must be after the start.')
        await inspect(t, page, `dates, ${name}`)
        await page.getByLabel('From', { exact: true }).fill(local(fromMs))
        await page.getByLabel('To', { exact: true }).fill(local(toMs))
        await press(page, 'Show')
        const chosen = await nextRange(t, page, before)
        t.match(windowIn(chosen), { fromMs, toMs })
        await becomes(t, () => page.getByLabel('From', { exact: true }).count(), 0, 'the form is gone')
      })
    })
  }
}

/** More than any of these changes makes, on however slow a machine. */
const entriesMax = 20

/** Through all that is between the first range and the last one. */
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
  // Of what the machine was slow with, there is more than one entry.
  t.strictSame(back.filter(range => ranges.some(({ search }) => search === range.search)).reverse(), ranges)
  t.strictSame(await walk(first, last, () => page.goForward()), back.toReversed())
}
