/** A page of the app in a browser, and the checks of every page: no console message, no axe violation, no overflow. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { becomes } from './becomes.ts'
import { waitFor } from './wait-for.ts'

export const desk = { viewport: { width: 1280, height: 800 } }
export const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

/** Many times the need of a busy machine. A wrong expectation takes as long. */
const deadlineMs = 2 * 60_000

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
/** Passes stay in the page: returning all of them takes longer than finding them. */
const violationsOf = (rules: string) => `axe.run({ resultTypes: ['violations']${rules} }).then(({ violations }) =>
  violations.map(({ id, nodes }) => [id, nodes.slice(0, 5).map(({ html }) => html)]))`
/** The night differs in colours only. */
const violations = {
  light: violationsOf(''),
  dark: violationsOf(", runOnly: ['color-contrast', 'link-in-text-block']"),
}

/** A separate browser context without stored data. Its console messages fail the test, its security policy included. */
export async function inBrowser(
  t: Test,
  browser: Browser,
  options: BrowserContextOptions,
  work: (page: Page) => Promise<void>,
): Promise<void> {
  // axe is put into the page by the test, which the policy forbids.
  const context = await browser.newContext({ timezoneId: 'America/New_York', ...options })
  try {
    context.setDefaultTimeout(deadlineMs)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', error => complaints.push(String(error.stack)))
    page.on('console', message => {
      // Chromium logs every error status, a stopped service, and a field that a test fills before its page focuses it.
      if (!/^(Failed to load resource|Autofocus processing was blocked)/.test(message.text()))
        complaints.push(message.text())
    })
    await work(page)
    t.strictSame(complaints, [], 'the browser complains of nothing')
  } finally {
    await context.close()
  }
}

export const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
/** Opens a section that begins folded. */
export async function unfold(section: Locator): Promise<void> {
  await section.locator('summary').first().click()
  await section.locator('details[open]').first().waitFor()
}
/** The charts of a range. */
export const charts = (page: Page) => page.getByRole('application')

export async function textOf(place: Locator): Promise<string> {
  return (await place.innerText()).replaceAll('\u202f', ' ')
}

export async function spoken(page: Page, before = ''): Promise<string> {
  let text = before
  await waitFor('the charts say something', async () => {
    text = await textOf(page.locator('.charts [aria-live=polite]').first())
    return text !== before && text !== ''
  })
  return text
}

export async function inspect(t: Test, page: Page, name: string): Promise<void> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const found = await page.evaluate(violations[colorScheme])
    t.strictSame(found, [], `${name}, ${colorScheme}`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  const excess = () => page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  await becomes(t, excess, 0, `${name} fits the screen`)
}

/** Leaves the page and returns, so that it reads everything again. */
export async function lookAgain(page: Page): Promise<void> {
  for (const state of ['hidden', 'visible']) {
    await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))`)
  }
}
