/** All that people do with their account in a real browser, on the whole service: on a phone, and by keyboard alone at a desk. */

import type { BrowserContextOptions, Page } from 'playwright-core'
import t from 'tap'
import { becomes, within, without } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { inspect as inspectPage } from '../support/browser-page.ts'
import { mailedToken } from '../support/mail-folder.ts'
import { sharedService } from '../support/service.ts'
import { waitFor } from '../support/wait-for.ts'

const password = 'correct horse battery'
const service = await sharedService(t)
const { url } = service
const browser = await openBrowser()
t.teardown(() => browser.close())

const desk = { viewport: { width: 1280, height: 800 } }
const phone = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }

/** What Chromium says of pages that are as they should be. */
const knownMessages = [
  // Of every answer that is an error.
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
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

async function fill(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text)
}

/** What a key press would act on. */
const focused = `(() => {
  const node = document.activeElement
  return (node.labels?.[0] ?? node).textContent.trim()
})()`

async function signUp(page: Page, email: string): Promise<void> {
  await page.goto('/account')
  await inspect(page, 'sign-in')
  await page.getByRole('link', { name: 'Sign up' }).click()
  await page.waitForURL('**/sign-up')
  await inspect(page, 'sign-up')
  await fill(page, { 'Name (optional)': 'Ada', 'E-mail address': email, Password: 'password1' })
  await press(page, 'Sign up')
  await becomes(t, () => page.locator('.error').innerText(), 'The password is one of the most common ones.')
  await becomes(t, () => page.evaluate(focused), 'Password', 'where something was wrong')
  await fill(page, { Password: password })
  await press(page, 'Sign up')
  await page.waitForURL('**/account?done=signed-up')
}

async function verify(page: Page, email: string): Promise<void> {
  await page.goto(await linkFor(email, 'verify'))
  await inspect(page, 'verify')
  await press(page, 'Yes, confirm it')
  await page.waitForURL('**/verify?done=verified')
  await page.getByRole('link', { name: 'To your account' }).click()
  await page.waitForURL('**/account')
  await becomes(t, () => page.locator('main').innerText(), without('not confirmed'))
}

async function signOutAndIn(page: Page, email: string): Promise<void> {
  await press(page, 'Sign out of this browser')
  await page.waitForURL('**/sign-in?done=signed-out')
  await page.goto('/device')
  await fill(page, { 'E-mail address': email, Password: 'wrong password' })
  await press(page, 'Sign in')
  await becomes(t, () => page.getByRole('alert').innerText(), 'The e-mail address or the password is wrong.')
  await fill(page, { Password: password })
  await press(page, 'Sign in')
  await page.waitForURL('**/device')
}

async function useKey(page: Page): Promise<void> {
  await page.goto('/account')
  const keys = region(page, 'API keys')
  await keys.getByLabel('Name', { exact: true }).fill('My script')
  await press(page, 'Generate New Token')
  const key = await page.locator('#new-key').innerText()
  await inspect(page, 'account, new key')
  t.equal(await statusWith(key), 200)
  await page.goto('/account')
  await becomes(t, () => keys.innerText(), within('last used'))
  await becomes(t, () => page.content(), without(key), 'the key is told once')
  await page.getByText('Revoke My script', { exact: true }).click()
  await press(page, 'Yes, revoke My script')
  await page.waitForURL('**/account?done=revoked')
  t.equal(await statusWith(key), 401)
}

async function approveDevice(page: Page): Promise<void> {
  const { device_code, user_code, verification_uri_complete } = await post('/device/start', {
    client_name: 'Kitchen display',
  })
  t.match(await post('/device/poll', { device_code }), { status: 'pending' })
  await page.goto(String(verification_uri_complete))
  await becomes(t, () => page.getByLabel('Code').inputValue(), '', 'the code is not filled in')
  await inspect(page, 'device')
  await fill(page, { Code: 'BBBB-BBBB' })
  await press(page, 'Continue')
  await page.locator('.error, .alert').first().waitFor()
  await fill(page, { Code: String(user_code).toLowerCase() })
  await press(page, 'Continue')
  await becomes(t, () => page.locator('main').innerText(), within('Kitchen display'))
  await inspect(page, 'device, decision')
  await press(page, 'Approve')
  await becomes(t, () => page.getByRole('heading', { level: 1 }).innerText(), within('Approved'))
  await inspect(page, 'device, approved')
  let answer = await post('/device/poll', { device_code })
  // A poll before its time is told to wait.
  await waitFor('the device has its key', async () => {
    if (answer['status'] !== 'approved') answer = await post('/device/poll', { device_code })
    return answer['status'] === 'approved'
  })
  t.equal(await statusWith(String(answer['api_key'])), 200)
}

async function resetPassword(page: Page, email: string): Promise<void> {
  await page.goto('/account')
  await press(page, 'Sign out of this browser')
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await page.waitForURL('**/reset')
  await inspect(page, 'reset')
  await fill(page, { 'E-mail address': email })
  await press(page, 'Send the mail')
  await page.waitForURL('**/reset?done=sent')
  await page.goto(await linkFor(email, 'reset'))
  await fill(page, { 'New password': `${password} staple` })
  await press(page, 'Set the password')
  await page.waitForURL('**/sign-in?done=reset')
  await fill(page, { 'E-mail address': email, Password: `${password} staple` })
  await press(page, 'Sign in')
  await page.waitForURL('**/account')
}

t.test('all of it on a phone', async () => {
  const email = 'round-phone@example.com'
  await inBrowser(phone, async page => {
    await signUp(page, email)
    await verify(page, email)
    await signOutAndIn(page, email)
    await useKey(page)
    await approveDevice(page)
    await resetPassword(page, email)
    await page.goto('/setup?token=x')
    await becomes(t, () => page.getByRole('heading', { level: 1 }).innerText(), 'This link is not valid')
    await page.goto('/no/such/page')
    await page.getByRole('heading', { name: 'Not found' }).waitFor()
    await inspect(page, 'not found')
    await page.getByRole('link', { name: 'To the fleet' }).click()
    await page.waitForURL(`${url}/`)
  })
})

/** Goes on by Tab until it is there; a page has fewer stops than this. */
async function reach(page: Page, name: string): Promise<void> {
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

async function type(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) {
    await reach(page, label)
    await page.keyboard.type(text)
  }
}

async function enter(page: Page, name: string, pattern: string): Promise<void> {
  await reach(page, name)
  await page.keyboard.press('Enter')
  await page.waitForURL(pattern)
}

t.test('all of it by keyboard alone, in a browser that runs no script', async t => {
  const email = 'round-keyboard@example.com'
  await inBrowser({ ...desk, javaScriptEnabled: false }, async page => {
    await page.goto('/sign-up')
    await type(page, { 'Name (optional)': 'Kay', 'E-mail address': email, Password: password })
    await page.keyboard.press('Enter')
    await page.waitForURL('**/account?done=signed-up')
    await page.goto(await linkFor(email, 'verify'))
    await enter(page, 'Yes, confirm it', '**/verify?done=verified')
    await enter(page, 'To your account', '**/account')
    await enter(page, 'Sign out of this browser', '**/sign-in?done=signed-out')
    await type(page, { 'E-mail address': email, Password: password })
    await page.keyboard.press('Enter')
    await page.waitForURL('**/account')
    await type(page, { Name: 'By hand' })
    await reach(page, 'send readings')
    await page.keyboard.press('Space')
    await reach(page, 'Generate New Token')
    await page.keyboard.press('Enter')
    const key = await page.locator('#new-key').innerText()
    t.equal(await statusWith(key), 200)
    await page.goto('/account')
    await becomes(t, () => region(page, 'API keys').innerText(), within('may read, send readings'))
    await reach(page, 'Revoke By hand')
    await page.keyboard.press('Enter')
    await enter(page, 'Yes, revoke By hand', '**/account?done=revoked')
    t.equal(await statusWith(key), 401)
    const { device_code, user_code } = await post('/device/start', { client_name: 'Remote' })
    await enter(page, 'Connect a device', '**/device')
    await type(page, { Code: String(user_code) })
    await page.keyboard.press('Enter')
    await page.getByText('“Remote”').waitFor()
    await reach(page, 'Approve')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    t.match(await post('/device/poll', { device_code }), { status: 'approved' })
    await enter(page, 'Account', '**/account')
    await enter(page, 'Sign out of this browser', '**/sign-in?done=signed-out')
  })
})
