/** Saved views in a browser: what a page shows is saved, found again, and where the pages begin. */

import type { Page } from 'playwright-core'
import t from 'tap'
import { buildWeb } from '../../web/build.ts'
import { becomes } from '../support/becomes.ts'
import { openBrowser } from '../support/browser.ts'
import { desk, inBrowser, inspect, phone } from '../support/browser-page.ts'
import { password } from '../support/people.ts'
import { startService, withoutQuestdb } from '../support/service.ts'
import { signInFor } from '../support/sign-in-page.ts'

await buildWeb()
const browser = await openBrowser()
t.teardown(() => browser.close())
const service = await startService(t, { environment: withoutQuestdb })

async function signIn(page: Page, email: string): Promise<void> {
  await service.admin('POST', '/accounts', { email, name: 'Ada Lovelace', role: 'user', password })
  await signInFor(page, service.url, email, '/compare')
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

for (const [name, options] of Object.entries({ desk, phone })) {
  t.test(`what a page shows is saved and shown again, ${name}`, async t => {
    await inBrowser(t, browser, options, async page => {
      await signIn(page, `${name}@example.com`)
      await page.goto(`${service.url}/compare?a=porch&b=roof&preset=30d`)
      await press(page, 'Views')
      await page.getByText('You have saved no view yet.').waitFor()
      await page.getByLabel('Save what this page shows as').fill('Porch and roof')
      await press(page, 'Save view')
      await page.getByRole('link', { name: 'Porch and roof' }).waitFor()
      await press(page, 'Make start page Porch and roof')
      await page.getByText('Start page', { exact: true }).waitFor()
      await press(page, 'Rename Porch and roof')
      await page.getByLabel('New name of Porch and roof').fill('Outside')
      await press(page, 'Rename')
      await page.getByRole('link', { name: 'Outside' }).waitFor()
      await inspect(t, page, `saved views, ${name}`)

      await page.goto(`${service.url}/alerts`)
      await press(page, 'Views')
      await page.getByRole('link', { name: 'Outside' }).click()
      await page.waitForURL(`${service.url}/compare?a=porch&b=roof&preset=30d`)
      await becomes(t, () => page.locator('dialog[open]').count(), 0, 'the menu has closed')

      await page.goto(service.url)
      t.equal(page.url(), `${service.url}/compare?a=porch&b=roof&preset=30d`, 'the pages begin there')
      await page.getByRole('link', { name: 'Fleet' }).click()
      await page.waitForURL(`${service.url}/`)
      await page.goto(`${service.url}/account`)
      await page.getByRole('link', { name: 'Fleet' }).click()
      await page.waitForURL(`${service.url}/`)
      await becomes(t, () => page.locator('h1').innerText(), 'Fleet', 'a link to the fleet leads to the fleet')

      await press(page, 'Views')
      await press(page, 'Remove Outside')
      await page.getByText('You have saved no view yet.').waitFor()
      await page.goto(service.url)
      t.equal(page.url(), `${service.url}/`)
    })
  })
}

t.test('who is not signed in has no menu of views, and begins at the fleet', async t => {
  await inBrowser(t, browser, desk, async page => {
    await page.goto(service.url)
    await page.getByRole('link', { name: 'Sign in' }).waitFor()
    await becomes(t, () => page.getByRole('button', { name: 'Views' }).count(), 0)
    t.equal(page.url(), `${service.url}/`)
  })
})

t.test('a link shows a view to who has no account, and nothing else, until it is revoked', async t => {
  let address = ''
  await inBrowser(t, browser, desk, async page => {
    await signIn(page, 'grace@example.com')
    await page.goto(`${service.url}/?q=porch`)
    await press(page, 'Views')
    await page.getByLabel('Save what this page shows as').fill('Porches')
    await press(page, 'Save view')
    await press(page, 'Links Porches')
    await press(page, 'Make a link')
    address = await page.locator('pre[data-name=Address]').innerText()
    t.match(address, /\/shared#barograph_view_[0-9A-Za-z]{49}$/)
    const wall = page.locator('pre[data-name=Wall]')
    await becomes(t, () => wall.innerText(), address.replace('/shared#', '/wall#'), 'a view of the fleet has a wall')
    const ownWall = (await page.getByRole('link', { name: 'Wall Porches' }).getAttribute('href')) ?? ''
    await inBrowser(t, browser, desk, async visitor => {
      await visitor.goto(`${service.url}${ownWall}`)
      await visitor.getByRole('alert').getByText('nobody is signed in').waitFor()
    })
    await inBrowser(t, browser, desk, async visitor => {
      await visitor.goto(address.replace('/shared#', '/wall#'))
      await visitor.getByRole('heading', { name: 'Porches' }).waitFor()
    })
    await page.getByRole('region', { name: 'The link' }).getByText('once the setting EMBED_ORIGINS lists').waitFor()
    await becomes(t, () => page.locator('pre[data-name="Embed code"]').count(), 0, 'no site may show it')
    await inspect(t, page, 'a link is made')
    await inBrowser(t, browser, phone, async visitor => {
      const requested: string[] = []
      visitor.on('request', request => requested.push(`${request.url()} ${request.headers()['referer'] ?? ''}`))
      await visitor.goto(address)
      await visitor.getByText('Porches').waitFor()
      await visitor.getByRole('heading', { name: 'Fleet' }).waitFor()
      await becomes(t, () => visitor.locator('a[href]').count(), 0, 'nothing leads elsewhere')
      await becomes(t, () => visitor.getByRole('navigation').count(), 0)
      await inspect(t, visitor, 'a view by its link')
      t.equal(
        requested.some(text => text.includes('barograph_view_')),
        false,
        'the token is in no address',
      )
      t.equal(
        requested.some(text => /\/auth\/session|\/api\/events/.test(text)),
        false,
      )
    })
    await page.getByRole('button', { name: /^Revoke/ }).click()
    await page.getByText('The link is revoked.').waitFor()
  })
  for (const link of [address, `${service.url}/shared`]) {
    await inBrowser(t, browser, desk, async visitor => {
      await visitor.goto(link)
      await visitor.getByText('This link is not valid').waitFor()
    })
  }
})
