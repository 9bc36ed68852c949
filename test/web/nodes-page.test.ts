/** What the admin page shows of several nodes, in a browser. */

import { hostname } from 'node:os'
import type { Page } from 'playwright-core'
import t from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { buildWeb } from '../../web/build.ts'
import { becomes, within } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, inspect, phone, textOf } from '../support/browser-page.ts'
import { openCluster } from '../support/nodes.ts'
import { password } from '../support/people.ts'
import { submitSignIn } from '../support/sign-in-page.ts'

await buildWeb()
const cluster = await openCluster(t)
const port = await freePort()
const url = `http://localhost:${port}`
const one = await cluster.start({ PUBLIC_URL: url, PORT: String(port) })
const other = await cluster.start({ PUBLIC_URL: url })
await one.admin('POST', '/accounts', { email: 'ada@example.com', name: 'ada', role: 'administrator', password })
const browser = await openBrowser()
t.teardown(() => browser.close())

const { body } = await one.admin('GET', '/status')
const ids = (body as { nodes: { id: string }[] }).nodes.map(({ id }) => id)

async function signIn(page: Page, path: string): Promise<void> {
  await page.goto(`${url}${path}`)
  await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
  await submitSignIn(page, 'ada@example.com')
  await page.waitForURL(`${url}${path}`)
}

const card = (page: Page, id = '') => page.locator('.card').filter({ hasText: `Node ${id}` })

t.test('the status has both nodes, and says which of them answers', async t => {
  for (const screen of [desk, { ...phone, colorScheme: 'dark' as const }]) {
    await inBrowser(t, browser, screen, async page => {
      await signIn(page, '/admin/status')
      await becomes(t, () => textOf(card(page, ids[0])), within(`${hostname()}, which answers here`))
      await becomes(t, () => textOf(card(page, ids[1])), within('renewed'))
      await inspect(t, page, 'status of nodes')
    })
  }
})

t.test('a list of rejected readings names its node, and is not gone on with by another one', async t => {
  for (let at = 0; at < 120; at++) {
    const password = String(at)
    await one.put('nobody', password, { device: 'nobody', [`field ${at}`]: at })
  }
  await inBrowser(t, browser, desk, async page => {
    await signIn(page, '/admin/rejections')
    const status = page.getByRole('status')
    await becomes(t, () => textOf(status), within(`at node ${ids[0]} on ${hostname()}`))
    await page.goto(`${url}/admin/rejections?node=${ids[1]}`)
    await becomes(t, () => textOf(page.locator('.banner').first()), within(`does not have the list of node ${ids[1]}`))
  })
})

t.test('a node that has ended without a word is shown as a problem', async t => {
  await other.end('SIGKILL')
  await inBrowser(t, browser, desk, async page => {
    await signIn(page, '/admin/status')
    await becomes(t, () => textOf(card(page, ids[1])), within('its lease has expired'))
    await becomes(t, () => textOf(card(page, ids[1]).locator('.bad').first()), within('expired, renewed'))
  })
})
