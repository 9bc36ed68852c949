/** Saved views in a browser: saved and found again, shown by links, on walls, and in frames of the allowed sites. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page, Request } from 'playwright-core'
import t, { type Test } from 'tap'
import { webFamily } from '../../api/web/web.ts'
import { embedCode } from '../../web/parts/embed-code.ts'
import { createApp } from '../support/app.ts'
import { becomes } from '../support/becomes.ts'
import { inBrowser, inspect, phone } from '../support/browser-page.ts'
import { readHtml } from '../support/html-document.ts'
import { makePerson } from '../support/people.ts'
import { startService, withoutQuestdb } from '../support/service.ts'
import { pageTests } from './page-tests.ts'
import { useSession } from './sign-in-page.ts'

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

const { browser, onDesk, onPhone } = await pageTests(t)
const environment = { ...withoutQuestdb, EMBED_ORIGINS: `https://www.example, ${listed}` }
const service = await startService(t, { environment })
const { url } = service
const { cookie } = await makePerson(service)

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

async function save(page: Page, name: string): Promise<void> {
  await press(page, 'Views')
  await page.getByLabel('Save what this page shows as').fill(name)
  await press(page, 'Save view')
}

t.test('the embed alone may be framed, by the sites of the setting', async t => {
  const headersOf = async (path: string, init: RequestInit = {}) => {
    const { headers } = await fetch(`${url}${path}`, { redirect: 'manual', ...init })
    return { policy: headers.get('content-security-policy') ?? '', options: headers.get('x-frame-options') }
  }
  for (const path of ['/embed', '/embed?a=%0d%0ax-evil:1']) {
    const { policy, options } = await headersOf(path)
    t.equal(policy.split('; ').at(-1), `frame-ancestors https://www.example ${listed}`, path)
    t.match(policy, /^default-src 'none'; script-src 'self'; /, 'and is as strict as other pages')
    t.equal(options, null, path)
  }
  const pages = ['/', '/shared', '/device/embed', '/docs', '/sign-in', '/account']
  for (const path of [...pages, '/embed/', '/%65mbed', '/embed%2F', '/Embed', '/embed/x', '//embed', '/x/../embed/']) {
    const { policy, options } = await headersOf(path)
    t.equal(options, 'DENY', path)
    t.notMatch(policy, /frame-ancestors (?!'none')/, path)
  }
  t.equal((await headersOf('/embed', { method: 'POST' })).options, 'DENY')
  const without = await createApp(webFamily()).inject('/embed')
  t.match(without.headers, { 'content-security-policy': /frame-ancestors 'none'$/, 'x-frame-options': 'DENY' })
})

onPhone('one button shares a page by links of one view', async (page, t) => {
  await useSession(page, url, cookie)
  await page.goto(`${url}/?q=porch`)
  for (const count of [1, 2]) {
    await press(page, 'Share')
    await press(page, 'Make a link')
    await page.locator('pre[data-name="Address"]', { hasText: '/shared#barograph_view_' }).waitFor()
    await becomes(t, () => page.getByRole('button', { name: /^Revoke/ }).count(), count)
    await inspect(t, page, 'a page that is shared')
    await press(page, 'I have it')
    await press(page, 'Close')
  }
  await press(page, 'Views')
  await press(page, 'Remove Fleet')
  await page.getByText('You have saved no view yet.').waitFor()
})

onPhone('the state of a page is saved, restored and usable as the first page', async (page, t) => {
  await useSession(page, url, cookie)
  await page.goto(`${url}/compare?a=porch&b=roof&preset=30d`)
  await save(page, 'Porch and roof')
  await page.getByRole('link', { name: 'Porch and roof' }).waitFor()
  await press(page, 'Make start page Porch and roof')
  await page.getByText('Start page', { exact: true }).waitFor()
  await press(page, 'Rename Porch and roof')
  await page.getByLabel('New name of Porch and roof').fill('Outside')
  await press(page, 'Rename')
  await page.getByRole('link', { name: 'Outside' }).waitFor()
  await inspect(t, page, 'saved views')

  await page.goto(`${url}/alerts`)
  await press(page, 'Views')
  await page.getByRole('link', { name: 'Outside' }).click()
  await page.waitForURL(`${url}/compare?a=porch&b=roof&preset=30d`)
  await becomes(t, () => page.locator('dialog[open]').count(), 0, 'the menu has closed')

  await page.goto(url)
  t.equal(page.url(), `${url}/compare?a=porch&b=roof&preset=30d`, 'the pages begin there')
  await page.goto(`${url}/account`)
  await page.getByRole('link', { name: 'Fleet' }).click()
  await page.waitForURL(`${url}/`)
  await becomes(t, () => page.locator('h1').innerText(), 'Fleet', 'a link to the fleet leads to the fleet')

  await press(page, 'Views')
  await press(page, 'Remove Outside')
  await page.getByText('You have saved no view yet.').waitFor()
  await page.goto(url)
  t.equal(page.url(), `${url}/`)
})

onDesk('a link shows a view alone, without an account, in listed sites, until it is revoked', async (page, t) => {
  await useSession(page, url, cookie)
  await page.goto(`${url}/?q=porch`)
  const name = '"Porches" <b>&'
  await save(page, name)
  await press(page, `Links ${name}`)
  await press(page, 'Make a link')
  const shown = (part: string) => page.locator(`pre[data-name="${part}"]`)
  const address = await shown('Address').innerText()
  t.match(address, /\/shared#barograph_view_[0-9A-Za-z]{49}$/)
  const wall = address.replace('/shared#', '/wall#')
  await becomes(t, () => shown('Wall').innerText(), wall, 'a view of the fleet has a wall')
  const ownWall = (await page.getByRole('link', { name: `Wall ${name}` }).getAttribute('href')) ?? ''
  await page.getByText(`Pages of https://www.example and ${listed} can show the view by this code.`).waitFor()
  const code = await shown('Embed code').innerText()
  await inspect(t, page, 'a link with its code')

  await see(t, { name, address, wall, ownWall })

  body = `<iframe src="${url}/embed#"></iframe>`
  await page.goto(listed)
  await page.frameLocator('iframe').getByText('This link is not valid').waitFor()
  body = code
  const requests: Request[] = []
  page.on('request', request => requests.push(request))
  await page.goto(listed)
  const frame = page.frameLocator('iframe[title=\'"Porches" <b>&\']')
  await frame.getByRole('heading', { name: 'Fleet' }).waitFor()
  await becomes(t, () => frame.locator('a[href]').count(), 0)
  // The page that was left may have sent a last one, with its cookies.
  const reads = requests.filter(one => /\/(?:api|v1|auth)\//.test(one.url()) && one.frame() !== page.mainFrame())
  t.ok(reads.length > 0)
  for (const request of reads) {
    const headers = await request.allHeaders()
    t.equal(headers['cookie'], undefined, request.url())
    t.match(headers['authorization'], /^Bearer barograph_view_/)
  }
  await isNowhereIn(requests, /barograph_view_/)
  await page.goto(/src="([^"]+)"/.exec(code)?.[1] ?? '')
  await page.getByRole('heading', { name: 'Fleet' }).waitFor()

  await page.route('**/v1/auth/me/views/*/links', async route => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), embed_origins: [] } })
  })
  await page.goto(`${url}/compare`)
  await press(page, 'Views')
  await press(page, `Links ${name}`)
  await page.getByRole('button', { name: /^Revoke/ }).click()
  await page.getByText('The link is revoked.').waitFor()
  await press(page, 'Make a link')
  await page.getByText('once the setting EMBED_ORIGINS lists').waitFor()
  await becomes(t, () => shown('Embed code').count(), 0, 'no site may show it')
  for (const link of [address, `${url}/shared`]) {
    await page.goto(link)
    await page.reload()
    await page.getByText('This link is not valid').waitFor()
  }
})

async function see(t: Test, { name, address, wall, ownWall }: Record<'name' | 'address' | 'wall' | 'ownWall', string>) {
  await inBrowser(t, browser, phone, async visitor => {
    await visitor.goto(url)
    await visitor.getByRole('link', { name: 'Sign in' }).waitFor()
    await becomes(t, () => visitor.getByRole('button', { name: 'Views' }).count(), 0, 'not signed in')
    await visitor.goto(`${url}${ownWall}`)
    await visitor.getByRole('alert').getByText('the session has ended').waitFor()
    await visitor.goto(wall)
    await visitor.getByRole('heading', { name }).waitFor()
    const requests: Request[] = []
    visitor.on('request', request => requests.push(request))
    await visitor.goto(address)
    await visitor.getByRole('heading', { name: 'Fleet' }).waitFor()
    await becomes(t, () => visitor.locator('a[href]').count(), 0, 'nothing leads elsewhere')
    await becomes(t, () => visitor.getByRole('navigation').count(), 0)
    await inspect(t, visitor, 'a view by its link')
    t.notOk(requests.some(one => /\/auth\/session|\/api\/events/.test(one.url())))
    await isNowhereIn(requests, /barograph_view_/)
  })
}

/** Behind `#` an address stays in the browser. */
async function isNowhereIn(requests: readonly Request[], secret: RegExp): Promise<void> {
  for (const request of requests) {
    const { referer = '' } = await request.allHeaders()
    t.notMatch(`${request.url().split('#')[0]} ${referer}`, secret)
  }
}

t.test('a name stays text in the code', t => {
  const name = "\"><script>alert(1)</script> & 'x'"
  const elements = readHtml(embedCode('http://a/embed#t', name)).filter(({ tag }) => ['iframe', 'script'].includes(tag))
  t.match(elements, [{ tag: 'iframe', attributes: { title: name, src: 'http://a/embed#t' } }])
  t.equal(elements.length, 1)
  t.end()
})
