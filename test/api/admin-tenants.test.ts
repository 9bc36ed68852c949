/** Tenants by the admin API: whole answers; what their secrets open is told by the tests of the exchange. */

import t from 'tap'
import { startAdmin } from '../support/admin.ts'

const { store, ask } = await startAdmin(t)
const pool = store.postgres
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const secret = /^[\w-]{43}$/
type Body = Record<string, unknown>

const problem = (status: number, title: string, more: object = {}) => ({
  status,
  headers: { 'content-type': 'application/problem+json' },
  body: { type: `urn:barograph:problem:${title.replaceAll(' ', '-')}`, title, status, ...more },
})

t.test('a tenant is added with a secret that is shown once, listed, changed and switched off', async t => {
  t.strictSame((await ask('GET', '/tenants')).body, { tenants: [], total: 0, page: 1, next: null })
  const added = await ask('POST', '/tenants', { slug: 'acme', name: 'Acme' })
  t.match(added, { status: 201, headers: { location: '/api/admin/tenants/acme' }, body: { secret } })
  const { secret: shown, ...details } = added.body as Body
  t.match(details, { slug: 'acme', name: 'Acme', is_active: true, created_at: time, old_secret_until: null })
  t.strictSame((await ask('GET', '/tenants/acme')).body, details)
  t.strictSame((await ask('GET', '/tenants')).body, { tenants: [details], total: 1, page: 1, next: null })
  const changed = await ask('PATCH', '/tenants/acme', { name: 'Acme Weather', is_active: false })
  t.match(changed, { status: 200, body: { ...details, name: 'Acme Weather', is_active: false } })
  t.match(await ask('PATCH', '/tenants/acme', { is_active: true }), { body: { name: 'Acme Weather', is_active: true } })
  t.match(await ask('POST', '/tenants', { slug: 'acme', name: 'B' }), {
    ...problem(409, 'slug taken', { errors: [{ path: 'slug', message: 'is taken by another tenant' }] }),
  })
  const { rows } = await pool.query("SELECT actor, action, subject, details FROM audit WHERE subject = 'tenant acme'")
  t.strictSame(
    rows.map(({ actor, action, details }) => [actor, action, details]),
    [
      ['local admin token', 'tenant.add', {}],
      ['local admin token', 'tenant.change', { name: 'Acme Weather', is_active: false }],
      ['local admin token', 'tenant.change', { is_active: true }],
    ],
  )
  t.notMatch(JSON.stringify(rows), String(shown))
})

t.test('a new secret is another one each time, and shown once', async t => {
  const first = (await ask('POST', '/tenants', { slug: 'r', name: 'R' })).body as Body
  const second = await ask('POST', '/tenants/r/rotate')
  t.match(second, { status: 200, body: { slug: 'r', secret, old_secret_until: time } })
  t.match((await ask('GET', '/tenants/r')).body, { old_secret_until: time })
  const third = await ask('POST', '/tenants/r/rotate?now=1')
  t.match(third, { status: 200, body: { secret, old_secret_until: null } })
  const secrets = [first, second.body as Body, third.body as Body].map(body => String(body['secret']))
  t.equal(new Set(secrets).size, 3)
  const text = JSON.stringify([
    await ask('GET', '/tenants/r'),
    await ask('GET', '/tenants'),
    await ask('GET', '/audit'),
  ])
  for (const value of secrets) t.notMatch(text, value)
  t.match(await ask('POST', '/tenants/r/rotate?now=yes'), problem(400, 'invalid query', { errors: [{ path: 'now' }] }))
})

t.test('what is wrong with a request is told field by field', async t => {
  const told = async (body: unknown, ...errors: object[]) =>
    t.match(await ask('POST', '/tenants', body), problem(422, 'invalid body', { errors }), JSON.stringify(body))
  await told({}, { path: 'slug' }, { path: 'name' })
  const message = 'must be lower-case letters, digits and single hyphens'
  for (const slug of ['', 'A', 'a b', '-a', 'a-', 'a--b', 'a/b', 'ä', 'a\u0000']) {
    await told({ slug, name: 'A' }, { path: 'slug', message })
  }
  await told({ slug: 'a'.repeat(41), name: 'A' }, { path: 'slug' })
  await told({ slug: 'a', name: '' }, { path: 'name', message: 'must not be empty' })
  await told({ slug: 'a', name: 'a\u0000' }, { path: 'name' })
  await told({ slug: 'a', name: 'A', secret: 'x' }, { path: '', message: /secret/ })
  t.match(await ask('PATCH', '/tenants/acme', {}), problem(422, 'invalid body'))
  t.match(await ask('PATCH', '/tenants/acme', { slug: 'b' }), problem(422, 'invalid body'))
  for (const slug of ['nobody', 'ACME', '%00', 'a%2Fb', '..%2F', "'"]) {
    t.match(await ask('GET', `/tenants/${slug}`), problem(404, 'tenant unknown'), slug)
    t.match(await ask('PATCH', `/tenants/${slug}`, { is_active: true }), problem(404, 'tenant unknown'), slug)
    t.match(await ask('POST', `/tenants/${slug}/rotate`), problem(404, 'tenant unknown'), slug)
  }
  t.match(await ask('GET', '/tenants?page=0'), problem(400, 'invalid query', { errors: [{ path: 'page' }] }))
  t.match(await ask('DELETE', '/tenants/acme'), { status: 405, headers: { allow: 'GET, HEAD, PATCH' } })
})

t.test('there are pages of them, and not more than ten thousand', async t => {
  const add = (from: number, to: number) =>
    pool.query(
      `INSERT INTO tenants (slug, name, secret, created_at, updated_at)
       SELECT 'many-' || n, 'M', '\\x00', now(), now() FROM generate_series($1::int, $2::int) AS n`,
      [from, to],
    )
  await add(1, 150)
  const page = async (number: number) => {
    const { tenants, total, next } = (await ask('GET', `/tenants?page=${number}`)).body as {
      tenants: []
      total: 0
      next: 0
    }
    return [tenants.length, total, next]
  }
  t.strictSame(
    [await page(1), await page(2), await page(3)],
    [
      [100, 152, 2],
      [52, 152, null],
      [0, 152, null],
    ],
  )
  await add(151, 9_998)
  t.match(await ask('POST', '/tenants', { slug: 'late', name: 'L' }), problem(409, 'too many tenants'))
})

t.test('a user of a tenant has no other role', async t => {
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO accounts (email, tenant_id, tenant_subject, created_at, updated_at)
     SELECT 'u@acme.example', id, 'u', now(), now() FROM tenants WHERE slug = 'acme' RETURNING id`,
  )
  const id = rows[0]?.id
  t.match(await ask('GET', `/accounts/${id}`), { status: 200, body: { tenant_slug: 'acme', role: 'user' } })
  for (const role of ['administrator', 'operator']) {
    t.match(await ask('PATCH', `/accounts/${id}`, { role }), problem(409, 'role impossible'), role)
  }
  t.match(await ask('PATCH', `/accounts/${id}`, { role: 'user', is_active: false }), { status: 200 })
  t.match(await ask('POST', '/devices', { name: 'd', owner: 'u@acme.example' }), problem(422, 'owner unknown'))
  t.match(await ask('POST', '/accounts', { email: 'u@acme.example' }), { status: 201 }, 'its address is free')
})
