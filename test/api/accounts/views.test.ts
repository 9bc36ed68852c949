/** Saved views: which addresses one may have, and whose they are. */

import fc from 'fast-check'
import t from 'tap'
import { viewsPerAccountMax } from '../../../auth/views/view.ts'
import { viewAddressIn } from '../../../auth/views/view-address.ts'
import { routeOf } from '../../../web/client/routes.ts'
import { startAccounts } from '../../support/accounts.ts'

const { ask, person, cookieOf, store, accounts } = await startAccounts(t)
const path = '/me/views'

async function somebody(email: string) {
  const id = await person(email)
  const { cookie } = await cookieOf(id)
  const call = (method: string, at = '', body?: unknown) =>
    ask(method, `${path}${at}`, { headers: { cookie }, ...(body === undefined ? {} : { body }) })
  return { id, call, list: async () => (await call('GET')).body as unknown as { id: number; name: string }[] }
}

t.test('an address is one of a page of the app', async t => {
  const canonical = (text: string) => viewAddressIn(text)?.text
  t.equal(canonical('/'), '/')
  t.equal(canonical('/?tag=site:north&q=cold store'), '/?tag=site:north&q=cold%20store')
  t.equal(canonical('/device/caf\u00e9?range=7d'), '/device/caf%C3%A9?range=7d')
  t.match(viewAddressIn('/device/a%2Fb'), { page: 'device', name: 'a/b' })
  for (const text of ['/compare?a=x&b=y', '/charts?line=temperature:x', '/station/DEL-01', '/alerts', '/admin/audit'])
    t.equal(canonical(text), text, text)
  const others = ['', 'device/a', 'https://evil.example/', '//evil.example/', '/\\evil.example/', '/.//evil.example']
  const further = ['/device/', '/device/a/b', '/device/%ff', '/account', '/api/fleet', '/sign-out', '/compare#x']
  const long = [`/?q=${'x'.repeat(1000)}`, `/?q=${'\u00e9'.repeat(300)}`, `/?${'a&'.repeat(51)}`]
  for (const text of [...others, ...further, ...long]) t.equal(canonical(text), undefined, text)
})

t.test('whatever is sent, an address leads to a page that the app has', async () => {
  const pieces = fc.constantFrom('/', '\\', 'device', 'admin', '.', '..', '%2e', '%2F', '?', '#', '@', ':', 'a', '\t')
  const texts = fc.array(pieces, { maxLength: 12 }).map(parts => `/${parts.join('')}`)
  fc.assert(
    fc.property(texts, text => {
      const address = viewAddressIn(text)?.text
      if (address === undefined) return true
      const { origin, pathname, search } = new URL(address, 'http://here.example')
      const isStable = viewAddressIn(address)?.text === address
      return origin === 'http://here.example' && pathname + search === address && isStable && isPage(pathname)
    }),
    { numRuns: 5000 },
  )
})

function isPage(pathname: string): boolean {
  return routeOf(pathname) !== undefined
}

t.test('views are saved, renamed, made the start page and removed, each with a row in the audit', async t => {
  const { id, call, list } = await somebody('ada@example.com')
  t.strictSame(await list(), [])
  const saved = await call('POST', '', { name: 'North', address: '/?tag=site:north', is_start: true })
  t.match(saved, { status: 201, body: { name: 'North', address: '/?tag=site:north', is_start: true } })
  t.equal((await accounts.find(id))?.startAddress, '/?tag=site:north')
  const other = await call('POST', '', { name: 'cellar', address: '/device/cellar?range=7d' })
  t.match(other, { status: 201, body: { is_start: false } })
  t.strictSame(
    (await list()).map(({ name }) => name),
    ['cellar', 'North'],
    'by name',
  )
  t.match(await call('PATCH', `/${other.body['id']}`, { is_start: true, name: 'Cellar' }), {
    status: 200,
    body: { name: 'Cellar', is_start: true, address: '/device/cellar?range=7d' },
  })
  t.match(
    await list(),
    [
      { name: 'Cellar', is_start: true },
      { name: 'North', is_start: false },
    ],
    'one is, at most',
  )
  t.equal((await accounts.find(id))?.startAddress, '/device/cellar?range=7d')
  t.match(await call('POST', '', { name: 'North', address: '/' }), { status: 409 })
  t.match(await call('PATCH', `/${saved.body['id']}`, { name: 'Cellar' }), { status: 409 })
  t.match(await call('DELETE', `/${other.body['id']}`), { status: 204 })
  t.match(await call('DELETE', `/${other.body['id']}`), { status: 404 })
  t.equal((await accounts.find(id))?.startAddress, null, 'with the view the start page is gone')
  const { rows } = await store.postgres.query(
    "SELECT action, details ->> 'name' AS name FROM audit WHERE action LIKE 'view.%' AND subject = $1 ORDER BY id",
    [`account ${id}`],
  )
  t.strictSame(rows, [
    { action: 'view.add', name: 'North' },
    { action: 'view.add', name: 'cellar' },
    { action: 'view.change', name: 'Cellar' },
    { action: 'view.remove', name: 'Cellar' },
  ])
})

t.test('those of another account are unknown', async t => {
  const bob = await somebody('bob@example.com')
  const eve = await somebody('eve@example.com')
  const { body } = await bob.call('POST', '', { name: 'Roof', address: '/device/roof' })
  const id = body['id']
  t.match(await eve.call('PATCH', `/${id}`, { name: 'Mine', is_start: true }), { status: 404 })
  t.match(await eve.call('DELETE', `/${id}`), { status: 404 })
  t.strictSame(await eve.list(), [])
  t.match(await bob.list(), [{ name: 'Roof', is_start: false }])
})

t.test('what is wrong is refused, and an account has so many views', async t => {
  const { call, list } = await somebody('carol@example.com')
  const wrong = [
    {},
    { name: ' ', address: '/' },
    { name: 'x'.repeat(101), address: '/' },
    { name: 'a\u0000', address: '/' },
  ]
  for (const body of [...wrong, { name: 'a', address: '//evil.example' }, { name: 'a', address: 7 }])
    t.match(await call('POST', '', body), { status: 422 }, JSON.stringify(body))
  for (let at = 0; at < viewsPerAccountMax; at++)
    t.equal((await call('POST', '', { name: `view ${at}`, address: '/' })).status, 201)
  t.match(await call('POST', '', { name: 'one more', address: '/' }), { status: 409 })
  t.equal((await list()).length, viewsPerAccountMax)
})
