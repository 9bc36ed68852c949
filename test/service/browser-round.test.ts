/** Everything that people do with their account, in a real browser on the whole service: on a phone, and by keyboard at a desk. */

import type { BrowserContextOptions, Page } from 'playwright-core'
import t from 'tap'
import { becomes, within, without } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { inspect as inspectPage } from '../support/browser-page.ts'
import { mailedToken } from '../support/mail-folder.ts'
import { sharedService } from '../support/service.ts'

const password = 'correct horse battery'
const service = await sharedService(t)
const { url } = service
const browser = await openBrowser()
t.teardown(() => browser.close())

const desk = { viewport: { width: 1280, height: 800 } }
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

/** Messages of Chromium on correct pages. */
const knownMessages = [
  // Chromium logs this line for every error status.
  'Failed to load resource',
  // The link of a reset does not say whose it is.
  '[DOM] Password forms should have',
  // A test types into a field before the first frame, at which Chromium would set the focus.
  'Autofocus processing was blocked',
]

async function inBrowser(options: BrowserContextOptions, work: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext({ baseURL: url, ...options })
  try {
    const page = await context.newPage()
    page.setDefaultTimeout(10 * 60_000)
    const complaints: string[] = []
    page.on('console', message => {
      const text = message.text()
      if (!knownMessages.some(known => text.startsWith(known))) complaints.push(text)
    })
    await work(page)
    t.strictSame(complaints, [], 'the browser complains of nothing, its security policy included')
  } finally {
    await context.close()
  }
}

const inspect = (page: Page, name: string) => inspectPage(t, page, name)

/** The link in the newest mail to this address. */
async function linkFor(to: string, page: string): Promise<string> {
  return `${url}/${page}?token=${await mailedToken(service.dataDirectory, page, to)}`
}

async function post(path: string, body: object): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/auth${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await response.json()) as Record<string, unknown>
}

const statusWith = async (key: string) => (await fetch(`${url}/v1/auth/me`, { headers: { 'x-api-key': key } })).status

/** The target of a key press. */
const focused = `(() => {
  const node = document.activeElement
  return (node.labels?.[0] ?? node).textContent.trim()
})()`

/** The actions of a person on a page. */
interface Hands {
  fill(fields: Record<string, string>): Promise<void>
  /** The name may be a link's, too. */
  press(name: string): Promise<void>
  check(name: string): Promise<void>
}

function touch(page: Page): Hands {
  return {
    async fill(fields) {
      for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text)
    },
    async press(name) {
      const summary = page.locator('summary').filter({ hasText: new RegExp(`^\\s*${RegExp.escape(name)}\\s*$`) })
      const [button, link] = (['button', 'link'] as const).map(role => page.getByRole(role, { name, exact: true }))
      for (const found of [button, summary, link]) if (((await found?.count()) ?? 0) > 0) return await found?.click()
      throw new Error(`there is no ${name}`)
    },
    check: name => page.getByLabel(name, { exact: true }).check(),
  }
}

function keyboard(page: Page): Hands {
  /** Presses Tab until the element has the focus. A page has fewer stops than this. */
  async function reach(name: string): Promise<void> {
    for (let stops = 0; stops < 60; stops++) {
      if ((await page.evaluate(focused)) === name) {
        const outline = () => page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
        await becomes(t, outline, 'solid', `one sees that the keyboard is at ${name}`)
        return
      }
      await page.keyboard.press('Tab')
    }
    throw new Error(`the keyboard does not reach ${name}`)
  }
  const act = (key: string) => async (name: string) => {
    await reach(name)
    await page.keyboard.press(key)
  }
  return {
    async fill(fields) {
      for (const [label, text] of Object.entries(fields)) {
        await reach(label)
        await page.keyboard.type(text)
      }
    },
    press: act('Enter'),
    check: act('Space'),
  }
}

/** Signs up, confirms the address, signs out and in, and makes and revokes a key. */
async function account(page: Page, { fill, press, check }: Hands, email: string): Promise<void> {
  await page.goto('/sign-up')
  await fill({ 'Name (optional)': 'Ada', 'E-mail address': email, Password: password })
  await press('Sign up')
  await page.waitForURL('**/account?done=signed-up')
  await page.goto(await linkFor(email, 'verify'))
  await press('Yes, confirm it')
  await page.waitForURL('**/verify?done=verified')
  await press('To your account')
  await page.waitForURL('**/account')
  await becomes(t, () => page.locator('main').innerText(), without('not confirmed'))
  await press('Sign out of this browser')
  await page.waitForURL('**/sign-in?done=signed-out')
  await fill({ 'E-mail address': email, Password: password })
  await press('Sign in')
  await page.waitForURL('**/account')
  await fill({ Name: 'My script' })
  await check('send readings')
  await press('Generate New Token')
  const key = await page.locator('#new-key').innerText()
  t.equal(await statusWith(key), 200)
  await page.goto('/account')
  const keys = page.getByRole('region', { name: 'API keys', exact: true })
  await becomes(t, () => keys.innerText(), within('may read, send readings'))
  await becomes(t, () => keys.innerText(), within('last used'))
  await becomes(t, () => page.content(), without(key), 'the key is shown once')
  await press('Revoke My script')
  await press('Yes, revoke My script')
  await page.waitForURL('**/account?done=revoked')
  t.equal(await statusWith(key), 401)
}

async function approveDevice(page: Page, { fill, press }: Hands): Promise<void> {
  const { device_code, user_code } = await post('/device/start', { client_name: 'Remote' })
  await press('Connect a device')
  await page.waitForURL('**/device')
  await fill({ Code: String(user_code).toLowerCase() })
  await press('Continue')
  await page.getByText('“Remote”').waitFor()
  await press('Approve')
  await page.getByRole('heading', { name: 'Approved' }).waitFor()
  t.match(await post('/device/poll', { device_code }), { status: 'approved' })
}

t.test('all of it on a phone', async () => {
  const email = 'round-phone@example.com'
  await inBrowser(phone, async page => {
    const hands = touch(page)
    const { fill, press } = hands
    const inspectAt = async (name: string) => {
      await page.goto(`/${name}`)
      await inspect(page, name)
    }
    for (const name of ['sign-in', 'sign-up', 'reset']) await inspectAt(name)
    await page.goto('/sign-up')
    await fill({ 'E-mail address': email, Password: 'password1' })
    await press('Sign up')
    await becomes(t, () => page.locator('.error').innerText(), 'The password is one of the most common ones.')
    await becomes(t, () => page.evaluate(focused), 'Password', 'where something was wrong')
    await account(page, hands, email)
    for (const name of ['device', 'account']) await inspectAt(name)
    await approveDevice(page, hands)
    await inspect(page, 'device, approved')
    await page.goto('/account')
    await press('Sign out of this browser')
    await page.goto('/setup?token=x')
    await becomes(t, () => page.getByRole('heading', { level: 1 }).innerText(), 'This link is not valid')
    await page.goto('/no/such/page')
    await page.getByRole('heading', { name: 'Not found' }).waitFor()
    await inspect(page, 'not found')
    await press('To the fleet')
    await page.waitForURL(`${url}/`)
  })
})

t.test('all of it by keyboard alone, in a browser that runs no script', async () => {
  await inBrowser({ ...desk, javaScriptEnabled: false }, async page => {
    const hands = keyboard(page)
    await account(page, hands, 'round-keyboard@example.com')
    await approveDevice(page, hands)
    await hands.press('Account')
    await page.waitForURL('**/account')
    await hands.press('Sign out of this browser')
    await page.waitForURL('**/sign-in?done=signed-out')
  })
})
