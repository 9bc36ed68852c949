/** The browsable page in a real browser without scripts: its display, buttons and copied text. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContextOptions, Page } from 'playwright-core'
import t from 'tap'
import type { BrowsablePage } from '../../../api/content-files/browsable-page.ts'
import { renderPage } from '../../../api/content-files/html/page.ts'
import { contentSecurityPolicy } from '../../../api/content-files/html/style.ts'
import { becomes } from '../../support/becomes.ts'
import { openBrowser } from '../../support/browser.ts'
import { invalidPage, listPage } from './sample-page.ts'

const longWord = 'W'.repeat(400)
const widePage: BrowsablePage = {
  ...invalidPage,
  title: longWord,
  path: `/${longWord}`,
  json: JSON.stringify({ [longWord]: [longWord, `https://a.example/${longWord}`] }, null, 4),
  filters: {
    action: '',
    hidden: [],
    fields: [
      { kind: 'choices', name: longWord, label: longWord, choices: [{ value: '', name: longWord, isChosen: true }] },
      { kind: 'texts', name: 'run_id', label: 'Run', values: [longWord], error: longWord },
    ],
  },
}

const server = createServer((request, reply) => {
  reply.setHeader('content-type', 'text/html; charset=utf-8')
  reply.setHeader('content-security-policy', contentSecurityPolicy)
  reply.end(renderPage(request.url === '/wide' ? widePage : listPage))
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const browser = await openBrowser()
t.teardown(async () => {
  await browser.close()
  server.close()
})

const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

async function look(
  path: string,
  options: BrowserContextOptions,
  visit: (page: Page) => Promise<unknown>,
): Promise<void> {
  const context = await browser.newContext({ javaScriptEnabled: false, ...options })
  try {
    // The timeout is for hangs alone.
    context.setDefaultTimeout(10 * 60_000)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', message => complaints.push(message.text()))
    await page.goto(origin + path)
    await visit(page)
    t.strictSame(complaints, [], `${path}: the browser complains of nothing, its security policy included`)
  } finally {
    await context.close()
  }
}

const panels = { Filters: '#filters', OPTIONS: '#options', 'GET in another format': '#formats' }

const open = (page: Page, name: string) => page.getByRole('button', { name }).click()

t.test('no page is wider than a phone, with any content and any open part', async t => {
  const fits = async (page: Page, message: string) =>
    becomes(t, async () => Number(await page.evaluate('document.documentElement.scrollWidth')) <= 360, true, message)
  for (const path of ['/list', '/wide']) await look(path, phone, page => fits(page, path))
  for (const [name, id] of Object.entries(panels)) {
    await look('/list', phone, async page => {
      await open(page, name)
      await fits(page, name)
      const isOnScreen = async () => {
        const { x, y, width, height } = (await page.locator(id).boundingBox()) ?? { x: -1, y: 0, width: 0, height: 0 }
        return x >= 0 && x + width <= 360 && y + height <= 740
      }
      await becomes(t, isOnScreen, true, `${name} stands on the screen`)
    })
  }
})

t.test('the buttons open and close panels without script, by mouse and by keyboard', async t => {
  for (const [name, id] of Object.entries(panels)) {
    await look('/list', {}, async page => {
      const panel = page.locator(id)
      await becomes(t, () => panel.isVisible(), false, `${name} is closed`)
      await open(page, name)
      await becomes(t, () => panel.isVisible(), true, 'opened')
      await page.keyboard.press('Escape')
      await becomes(t, () => panel.isVisible(), false, 'closed by Escape')
      await page.getByRole('button', { name }).press('Enter')
      await becomes(t, () => panel.isVisible(), true, 'opened by Enter')
      if (id === '#formats') return
      await becomes(t, () => panel.locator(':focus').count(), 1, 'the focus is in it')
      await page.keyboard.press('Enter')
      await becomes(t, () => panel.isVisible(), false, 'closed by its button, which has the focus')
    })
  }
})

t.test('the page follows the light and dark scheme, and shows the focus', async t => {
  const style = (page: Page, selector: string, name: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}'))['${name}']`)
  const grounds = { light: 'rgb(244, 243, 239)', dark: 'rgb(19, 18, 24)' } as const
  for (const colorScheme of ['light', 'dark'] as const) {
    await look('/list', { colorScheme }, async page => {
      await becomes(t, () => style(page, 'body', 'background-color'), grounds[colorScheme])
      await page.keyboard.press('Tab')
      await becomes(t, () => style(page, ':focus', 'outline-style'), 'solid')
    })
  }
})
