/** Saved views in frames of other sites: which sites may show one, and that a frame knows nobody who is signed in. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page, Request } from 'playwright-core'
import t from 'tap'
import { buildWeb } from '../../web/build.ts'
import { embedCode } from '../../web/parts/embed-code.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, inspect, phone } from '../support/browser-page.ts'
import { readHtml } from '../support/html-document.ts'
import { password } from '../support/people.ts'
import { startService, withoutQuestdb } from '../support/service.ts'
import { signInFor } from '../support/sign-in-page.ts'

/** Another site, whose page has this body. */
let body = ''
const site = createServer((_request, response) => {
  const page = `<!doctype html><html lang="en"><title>Our school</title><link rel="icon" href="data:,">
    <main><h1>Our school</h1>${body}</main></html>`
  response.setHeader('content-type', 'text/html').end(page)
})
await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve))
t.teardown(() => {
  site.closeAllConnections()
  site.close()
})
const { port } = site.address() as AddressInfo
const listed = `http://127.0.0.1:${port}`
/** The same server by another name is another origin. */
const unlisted = `http://localhost:${port}`

await buildWeb()
const browser = await openBrowser()
t.teardown(() => browser.close())
const environment = { ...withoutQuestdb, EMBED_ORIGINS: `https://www.example, ${listed}` }
const service = await startService(t, { environment })
const embedPolicy = `frame-ancestors https://www.example ${listed}`

async function signIn(page: Page, email: string): Promise<void> {
  await service.admin('POST', '/accounts', { email, name: 'Ada Lovelace', role: 'user', password })
  await signInFor(page, service.url, email, '/compare')
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

t.test('the embed alone may be framed, by the sites of the setting', async t => {
  const headersOf = async (path: string, init: RequestInit = {}) => {
    const { headers } = await fetch(`${service.url}${path}`, { redirect: 'manual', ...init })
    return { policy: headers.get('content-security-policy') ?? '', options: headers.get('x-frame-options') }
  }
  for (const [path, init] of [
    ['/embed', {}],
    ['/embed?a=%0d%0ax-evil:1', {}],
    ['/embed', { method: 'HEAD' }],
  ] as const) {
    const { policy, options } = await headersOf(path, init)
    t.equal(policy.split('; ').at(-1), embedPolicy, path)
    t.match(policy, /^default-src 'none'; script-src 'self'; /, 'and is as strict as other pages')
    t.equal(options, null, path)
  }
  const pages = ['/', '/shared', '/charts', '/admin', '/device/embed', '/docs', '/sign-in', '/account', '/device']
  const spelled = ['/embed/', '/embed//', '/%65mbed', '/embed%2F', '/Embed', '/embed/x', '//embed', '/x/../embed/']
  for (const path of [...pages, ...spelled]) {
    const { policy, options } = await headersOf(path)
    t.equal(options, 'DENY', path)
    t.notMatch(policy, /frame-ancestors (?!'none')/, path)
  }
  for (const path of ['/api/fleet', '/v1/auth/shared-view', '/health/live', '/assets/none.js'])
    t.equal((await headersOf(path)).options, 'DENY', path)
  t.equal((await headersOf('/embed', { method: 'POST' })).options, 'DENY')
})

t.test('the code of a view shows it in a page of a listed site, without cookies', async t => {
  let code = ''
  await inBrowser(t, browser, desk, async page => {
    await signIn(page, 'ada@example.com')
    await page.goto(`${service.url}/?q=porch`)
    await press(page, 'Views')
    await page.getByLabel('Save what this page shows as').fill('"Porches" <b>&')
    await press(page, 'Save view')
    await press(page, 'Links "Porches" <b>&')
    await press(page, 'Make a link')
    code = await page.locator('pre[data-name="Embed code"]').innerText()
    await page.getByText(`Pages of https://www.example and ${listed} can show the view by this code.`).waitFor()
    await inspect(t, page, 'a link with its code')

    body = code
    const requests: Request[] = []
    page.on('request', request => requests.push(request))
    await page.goto(listed)
    const frame = page.frameLocator('iframe[title=\'"Porches" <b>&\']')
    await frame.getByRole('heading', { name: 'Fleet' }).waitFor()
    await becomes(t, () => frame.locator('a[href]').count(), 0, 'nothing leads elsewhere')
    await becomes(t, () => frame.getByRole('navigation').count(), 0)
    // The page that was left may have sent a last one, with its cookies.
    const isOfFrame = (request: Request) => request.frame() !== page.mainFrame()
    const reads = requests.filter(request => /\/(?:api|v1|auth)\//.test(request.url()) && isOfFrame(request))
    t.ok(reads.length > 0)
    for (const request of reads) {
      const headers = await request.allHeaders()
      t.equal(headers['cookie'], undefined, request.url())
      t.match(headers['authorization'], /^Bearer barograph_view_/)
    }
    for (const request of requests) {
      const { referer = '' } = await request.allHeaders()
      t.notMatch(`${request.url().split('#')[0]} ${referer}`, /barograph_view_/)
    }
  })
  await inBrowser(t, browser, phone, async page => {
    await page.goto(/src="([^"]+)"/.exec(code)?.[1] ?? '')
    await page.getByRole('heading', { name: 'Fleet' }).waitFor()
    await inspect(t, page, 'an embed')
  })
})

t.test('other sites show no frame, and a frame without a link shows nothing to who is signed in', async t => {
  const context = await browser.newContext()
  // Only for hangs.
  context.setDefaultTimeout(10 * 60_000)
  t.teardown(() => context.close())
  const page = await context.newPage()
  await signIn(page, 'grace@example.com')
  for (const path of ['/embed', '/embed#', '/embed?a=b']) {
    body = `<iframe src="${service.url}${path}"></iframe>`
    await page.goto(listed)
    await page.frameLocator('iframe').getByText('This link is not valid').waitFor()
  }
  const isRefused = async (origin: string, path: string) => {
    body = `<iframe src="${service.url}${path}"></iframe>`
    await page.goto(origin)
    const frameUrl = async () =>
      page
        .frames()
        .find(frame => frame.parentFrame() !== null)
        ?.url()
    await becomes(t, frameUrl, 'chrome-error://chromewebdata/', `${origin} ${path}`)
  }
  await isRefused(unlisted, '/embed')
  for (const path of ['/', '/shared', '/account', '/embed/', '/%65mbed']) await isRefused(listed, path)
})

t.test('without the setting, no page is framed', async t => {
  const bare = await startService(t, { environment: withoutQuestdb })
  const { headers } = await fetch(`${bare.url}/embed`)
  t.match(headers.get('content-security-policy'), /frame-ancestors 'none'$/)
  t.equal(headers.get('x-frame-options'), 'DENY')
})

t.test('a name stays text in the code', t => {
  const name = "\"><script>alert(1)</script> & 'x'"
  const elements = readHtml(embedCode('http://a/embed#t', name)).filter(({ tag }) => ['iframe', 'script'].includes(tag))
  t.match(elements, [{ tag: 'iframe', attributes: { title: name, src: 'http://a/embed#t' } }])
  t.equal(elements.length, 1)
  t.end()
})
