/** Tests of the built pages in one browser, each with a page of its own. */

import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { buildWeb } from '../../web/build.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, phone, region } from '../support/browser-page.ts'

export async function pageTests(t: Test) {
  await buildWeb()
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  /** The options set another screen. */
  const on = (options: BrowserContextOptions) => (name: string, work: (page: Page, t: Test) => Promise<void>) => {
    t.test(name, t => inBrowser(t, browser, options, page => work(page, t)))
  }
  return { browser, onDesk: on(desk), onPhone: on(phone), on }
}

/** Fills fields by their labels. */
export async function fill(place: Page | Locator, texts: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, text] of Object.entries(texts)) await place.getByLabel(label, { exact: true }).fill(text)
}

/** Shows the numbers of a section as a table. */
export const showTable = (page: Page, section: string) =>
  region(page, section)
    .getByRole('button', { name: /Show as table/ })
    .click()
