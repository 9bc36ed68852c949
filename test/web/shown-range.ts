/** The range of the charts on a page, by its address, its buttons and its charts, and the ways to change it. */

import type { Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { createTimes } from '../../web/theme/times.ts'
import { becomes } from '../support/becomes.ts'
import { charts } from '../support/browser-page.ts'
import { waitFor } from '../support/wait-for.ts'

const minuteMs = 60_000
/** The zone of the shared service. */
const times = createTimes('UTC')

type Box = NonNullable<Awaited<ReturnType<Locator['boundingBox']>>>

export interface ShownRange {
  readonly search: string
  /** The buttons of ranges that are pressed. */
  readonly pressed: readonly string[]
  /** `22 Nov 2026, 12:04 – 23 Nov 2026, 12:04` */
  readonly text: string
}

export async function shownRange(page: Page): Promise<ShownRange> {
  let text: string | undefined
  // At a cursor, the charts show its moment instead. The keyboard's cursor disappears when the pointer comes and leaves.
  await waitFor('the charts show their range', async () => {
    const { x, y, width, height } = await plotBox(page)
    await page.mouse.move(x + width / 2, y + height / 2)
    await page.mouse.move(0, 0)
    text = await textNow(page, '.cursor-time:not(:has(strong))')
    return text !== undefined
  })
  const pressed = await page.locator('.presets [aria-pressed=true]').allInnerTexts()
  return { search: new URL(page.url()).search, pressed, text: text ?? '' }
}

/** The range that is shown after this one, once address, buttons and charts agree on it. */
export async function nextRange(t: Test, page: Page, before: ShownRange): Promise<ShownRange> {
  let now = before
  const isThere = async () => {
    now = await shownRange(page)
    return now.search !== before.search && isInAddress(now) && (await isInCharts(page, now))
  }
  await becomes(t, isThere, true, 'address, buttons and charts have another range')
  return now
}

const names: Record<string, string> = { '24h': '24 hours', '7d': '7 days', '30d': '30 days' }

function isInAddress({ search, pressed, text }: ShownRange): boolean {
  const fields = new URLSearchParams(search)
  const preset = fields.get('range') ?? fields.get('preset') ?? (fields.has('a') ? '7d' : '24h')
  if (!fields.has('from')) return pressed.join() === names[preset]
  const { fromMs, toMs } = windowIn({ search, pressed, text })
  return pressed.length === 0 && text === `${times.dateTime(fromMs)} – ${times.dateTime(toMs)}`
}

/** True if the moments at both ends equal the range. */
async function isInCharts(page: Page, { text }: ShownRange): Promise<boolean> {
  const [fromMs = 0, toMs = 0] = text.split(' – ').map(wallMs)
  const { width } = await plotBox(page)
  // Some pixels, and the seconds that no text has.
  const slackMs = 3 * ((toMs - fromMs) / width) + minuteMs
  const isAt = async (share: number, edgeMs: number) => Math.abs((await momentAt(page, share)) - edgeMs) <= slackMs
  return (await isAt(0, fromMs)) && (await isAt(1, toMs))
}

/**
 * The text of the charts at a share of their width, as wall-clock time. NaN without one: a chart with new data has no
 * cursor until the pointer moves.
 */
async function momentAt(page: Page, share: number): Promise<number> {
  const { x, y, width, height } = await plotBox(page)
  await page.mouse.move(x + 1 + share * (width - 2), y + height / 2)
  return wallMs((await textNow(page, '.cursor-time strong')) ?? '')
}

async function textNow(page: Page, selector: string): Promise<string | undefined> {
  const [text] = await page.locator(selector).allInnerTexts()
  return text
}

/** `23 Nov 2026, 12:04` */
const wallMs = (text: string) => Date.parse(`${text} UTC`)

export const plot = (page: Page) => page.locator('.panel-chart .u-over').first()

/** Waits for the chart: a chart of other lines takes the place of the one before. */
async function plotBox(page: Page): Promise<Box> {
  let box: Box | null = null
  await waitFor('a chart is shown', async () => {
    box = await plot(page).boundingBox()
    return box !== null
  })
  return box as unknown as Box
}

export function windowIn({ search }: ShownRange): { fromMs: number; toMs: number; spanMs: number } {
  const fields = new URLSearchParams(search)
  const [fromMs = 0, toMs = 0] = ['from', 'to'].map(name => Date.parse(fields.get(name) ?? ''))
  return { fromMs, toMs, spanMs: toMs - fromMs }
}

type Gesture = (page: Page) => Promise<void>

export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

/** Each gesture changes the range, some of them several times in a row. */
export const gestures = {
  async drag(page) {
    const { x, y, width } = await plotBox(page)
    await page.mouse.move(x + 0.3 * width, y + 50)
    await page.mouse.down()
    await page.mouse.move(x + 0.7 * width, y + 50, { steps: 10 })
    await page.mouse.up()
  },
  async sidewaysWheel(page) {
    const { x, y } = await plotBox(page)
    await page.mouse.move(x + 300, y + 50)
    for (let turn = 0; turn < 4; turn++) await page.mouse.wheel(-50, 0)
  },
  async wheel(page) {
    const { x, y } = await plotBox(page)
    await page.mouse.move(x + 300, y + 50)
    await page.keyboard.down('Control')
    for (let turn = 0; turn < 8; turn++) await page.mouse.wheel(0, -40)
    await page.keyboard.up('Control')
  },
  async keys(page) {
    await charts(page).first().focus()
    await page.keyboard.press('+')
    for (let step = 0; step < 3; step++) await page.keyboard.press('Shift+ArrowLeft')
  },
  async buttons(page) {
    await press(page, 'Zoom in')
    await press(page, 'Earlier')
  },
  /** Two fingers part. */
  async touch(page) {
    await touch(page, [100, 140], [90, 150], [80, 160], [70, 170], [60, 180])
  },
  async finger(page) {
    await touch(page, [100], [120], [140], [160], [180])
  },
} satisfies Record<string, Gesture>

/** Fingers on the charts, from step to step, by their distance from the left. */
async function touch(page: Page, first: readonly number[], ...steps: readonly number[][]): Promise<void> {
  const { x, y } = await plotBox(page)
  const devTools = await page.context().newCDPSession(page)
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', places: readonly number[]) =>
    devTools.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: places.map((place, id) => ({ x: x + place, y: y + 50, id })),
    })
  await send('touchStart', first)
  for (const places of steps) await send('touchMove', places)
  await send('touchEnd', [])
  await devTools.detach()
}
