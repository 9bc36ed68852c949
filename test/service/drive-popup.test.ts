/** The popup that links a drive, in a real browser. Opener, consent page and service each have their own origin. */

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import t from 'tap'
import { openBrowser } from '../support/browser.ts'
import { startProvider } from '../support/oauth-provider.ts'
import { makePerson } from '../support/people.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

const refreshToken = 'refresh-</script>-token'

async function listen(handle: RequestListener): Promise<number> {
  const server = createServer(handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Keeps each message that its popup posts, with the origin that it came from. */
const openerPage = `<!doctype html><title>Front end</title><script>
  const messages = []
  addEventListener('message', ({ data, origin }) => messages.push({ data, origin }))
</script>`

/** A front end by another name of this machine, so that it is another site to the browser. */
const openerPort = await listen((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html' }).end(openerPage)
})
const openerOrigin = `http://localhost:${openerPort}`

/** The consent page agrees unless a test sets another answer. */
let consent: Record<string, string> = { code: 'the-code' }
const consentPort = await listen(({ url = '' }, response) => {
  const { searchParams } = new URL(url, 'http://provider')
  const back = new URL(searchParams.get('redirect_uri') ?? '')
  back.search = new URLSearchParams({ ...consent, state: searchParams.get('state') ?? '' }).toString()
  response.writeHead(302, { location: back.href }).end()
})

const tokens = await startProvider(t)
tokens.answerWith(response => {
  const body = { access_token: 'an access token', refresh_token: refreshToken, expires_in: 3600 }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})

const service = await startService(t, {
  environment: {
    ...withoutQuestdb,
    DRIVE_CLIENT_ID: 'the client',
    DRIVE_CLIENT_SECRET: 'the secret of the client',
    DRIVE_AUTHORIZATION_URL: `http://127.0.0.1:${consentPort}/consent`,
    DRIVE_TOKEN_URL: `${tokens.url}/token`,
    DRIVE_OPENER_ORIGIN: openerOrigin,
  },
})
const browser = await openBrowser()
t.teardown(() => browser.close())
const context = await browser.newContext()
// The limit only ends a hang.
context.setDefaultTimeout(10 * 60_000)
t.teardown(() => context.close())

/** Opens the popup from a page and waits until it has closed itself. */
async function goThroughPopup(page: Page): Promise<void> {
  const popupOpened = page.waitForEvent('popup')
  await page.evaluate(`void open('${service.url}/v1/auth/google-drive/start', 'drive', 'popup')`)
  const popup = await popupOpened
  if (!popup.isClosed()) await popup.waitForEvent('close')
}

/** Messages that the page receives meanwhile. */
async function link(page: Page): Promise<unknown> {
  await goThroughPopup(page)
  await page.waitForFunction('messages.length > 0')
  return await page.evaluate('messages.splice(0)')
}

t.test('a person who has signed in links a drive', async t => {
  const { cookie } = await makePerson(service)
  for (const each of cookie.split('; ')) {
    const [name = ''] = each.split('=', 1)
    await context.addCookies([{ name, value: each.slice(name.length + 1), url: service.url }])
  }
  const page = await context.newPage()
  await page.goto(openerOrigin)
  const from = { origin: service.url }
  const linked = await link(page)
  t.strictSame(linked, [{ data: { type: 'google-drive-auth', refresh_token: refreshToken }, ...from }])
  t.equal(tokens.forms.length, 1)
  t.notMatch(service.output(), 'refresh-', 'the token is in no log')

  consent = { error: 'access_denied' }
  const denied = await link(page)
  t.strictSame(denied, [{ data: { type: 'google-drive-auth', error: 'access_denied' }, ...from }])
  t.equal(tokens.forms.length, 1, 'the provider is asked for no token')
})
