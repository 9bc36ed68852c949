/**
 * The first contentful paint of the pages in Chromium, against a static page of the same size: the rendered document,
 * padded to the loaded bytes of the page. Also prints the time of the first row or line.
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { median } from 'simple-statistics'
import { openBrowser } from '../test/support/browser.ts'
import type { Bounds } from './bounds.ts'
import { startMadeFleet } from './made-fleet.ts'
import { type Hooks, ratios, round, spread } from './measure.ts'

const pairs = 7
const timesMax = 3
const deviceCount = 10_000
const yearOfMinutes = { count: 1, days: 365, stepMs: 60_000 }

interface Painted {
  firstPaintMs: number
  contentMs: number
  /** Uncompressed bytes of all loaded files. */
  bytes: number
  document: string
}

interface Subject {
  name: string
  url: string
  /** A selector of the content that ends the measurement. */
  content: string
}

async function paint(browser: Browser, { url, content }: Pick<Subject, 'url' | 'content'>): Promise<Painted> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  try {
    const page = await context.newPage()
    const sizes: Promise<number>[] = []
    page.on('response', response => {
      if (response.status() === 200 && !isStream(response.headers())) sizes.push(bodyLength(response))
    })
    await page.goto(url)
    await page.locator(content).first().waitFor()
    const contentMs: number = await page.evaluate('performance.now()')
    const firstPaintMs = await firstContentfulPaint(page)
    const document = await page.content()
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
    return { firstPaintMs, contentMs, bytes, document }
  } finally {
    await context.close()
  }
}

function isStream(headers: Record<string, string>): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false
}

async function bodyLength(response: { body(): Promise<Buffer> }): Promise<number> {
  // A request that the page has given up has no body.
  return await response.body().then(
    body => body.length,
    () => 0,
  )
}

/** A string, because it runs in the page. */
const untilPainted = `new Promise(resolve => {
  const find = list => {
    const entry = list.getEntries().find(({ name }) => name === 'first-contentful-paint')
    if (entry !== undefined) resolve(entry.startTime)
  }
  new PerformanceObserver(find).observe({ type: 'paint', buffered: true })
})`

function firstContentfulPaint(page: Page): Promise<number> {
  return page.evaluate(untilPainted)
}

/** The rendered document without script, of `bytes` bytes. */
function withoutScript(document: string, bytes: number): string {
  const bare = document.replaceAll(/<(script|link)\b[^>]*>(?:<\/script>)?/g, '')
  return `${bare}<!--${' '.repeat(Math.max(0, bytes - bare.length))}-->`
}

async function serve(hooks: Hooks, text: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(text)
  })
  hooks.teardown(() => server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function measure(hooks: Hooks, bounds: Bounds, browser: Browser, subject: Subject): Promise<void> {
  const first = await paint(browser, subject)
  const plain = { url: await serve(hooks, withoutScript(first.document, first.bytes)), content: 'body' }
  await paint(browser, plain)
  const ours: Painted[] = []
  const yardstick: Painted[] = []
  for (let pair = 0; pair < pairs; pair++) {
    ours.push(await paint(browser, subject))
    yardstick.push(await paint(browser, plain))
  }
  const paints = (list: readonly Painted[]) => list.map(({ firstPaintMs }) => firstPaintMs)
  const each = ratios(paints(ours), paints(yardstick))
  bounds.atMost(`first paint of ${subject.name}, times a page of the same bytes`, median(each), timesMax, {
    ratios: spread(each),
    ms: spread(paints(ours)),
    plainMs: spread(paints(yardstick)),
    contentMs: spread(ours.map(({ contentMs }) => contentMs)),
    kilobytes: round(first.bytes / 1000),
  })
}

export async function measureFirstPaint(hooks: Hooks, bounds: Bounds): Promise<void> {
  const { service, made } = await startMadeFleet(hooks, [yearOfMinutes], deviceCount - 1, {})
  const path = made[0]?.[0]?.path
  const browser = await openBrowser()
  hooks.teardown(() => browser.close())
  const subjects: Subject[] = [
    { name: `the fleet page with ${deviceCount} devices`, url: `${service.url}/`, content: 'tr[aria-rowindex="2"] a' },
    { name: 'the device page with a year of minutes', url: `${service.url}/device/${path}`, content: 'canvas' },
  ]
  for (const subject of subjects) await measure(hooks, bounds, browser, subject)
}
