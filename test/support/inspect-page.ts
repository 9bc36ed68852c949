/** What every page has to be: nothing for axe to find, by day and by night, and nothing wider than the screen. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

interface Asserts {
  equal(found: unknown, wanted: unknown, message: string): unknown
  strictSame(found: unknown, wanted: unknown, message: string): unknown
}

export async function inspectPage(t: Asserts, page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.evaluate(axe)
    const { violations } = (await page.evaluate('axe.run()')) as {
      violations: { id: string; nodes: { html: string }[] }[]
    }
    t.strictSame(
      violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
      [],
      `${name}, ${colorScheme}`,
    )
  }
  await page.emulateMedia({ colorScheme: 'light' })
  const excess = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  t.equal(excess, 0, `${name} fits the screen`)
}
