/** The table of who may do what, operation by operation; and what no body and no header can do. */

import fc from 'fast-check'
import t from 'tap'
import { createKeyText } from '../../../auth/keys/key-text.ts'
import { TooBusy } from '../../../auth/too-busy.ts'
import { adminToken, goodPassword, serviceSecret, startAccounts } from '../../support/accounts.ts'

const service = await startAccounts(t, {
  settings: { mailRequestsPerHour: 1_000_000, registrationsPerHour: 1_000_000 },
})
const { ask, person, cookieOf, accounts } = service
const email = 'ada@example.com'
const id = await person(email)
const { cookie } = await cookieOf(id)
const { body: fetched } = await ask('POST', '/token', { body: { email, password: goodPassword } })
const { body: made } = await ask('POST', '/api-keys', { body: { name: 'a script' }, headers: { cookie } })

const { body: view } = await ask('POST', '/me/views', { headers: { cookie }, body: { name: 'all', address: '/' } })
const { body: linked } = await ask('POST', `/me/views/${view['id']}/links`, {
  headers: { cookie },
  body: { expires_in_days: 1 },
})
const credentials: Record<string, Record<string, string>> = {
  nothing: {},
  session: { cookie },
  bearer: { authorization: `Bearer ${fetched['access_token']}` },
  key: { authorization: `Bearer ${made['key']}` },
  service: { 'x-service-secret': serviceSecret },
  'a wrong cookie': { cookie: '__Secure-authjs.session-token=x.y.z' },
  'a wrong bearer': { authorization: 'Bearer x.y.z' },
  'a wrong key': { 'x-api-key': 'x' },
  'a wrong service secret': { 'x-service-secret': 'x' },
  // Good for reads of the devices of its view.
  'a view link': { authorization: `Bearer ${linked['token']}` },
  // Good for the admin API alone.
  'the admin token': { authorization: `Bearer ${adminToken}` },
}
const wrong = {
  'a wrong cookie': 401,
  'a wrong bearer': 401,
  'a wrong key': 401,
  'a wrong service secret': 401,
  'a view link': 401,
  'the admin token': 401,
}
const open = (status: number) => Object.fromEntries(Object.keys(credentials).map(kind => [kind, status]))
const manage = (session: number) => ({ nothing: 401, session, bearer: 403, key: 403, service: 403, ...wrong })

/** 422 and 400 are answers to whom the operation serves. */
const table: [method: string, path: string, statuses: Record<string, number>][] = [
  ['POST', '/register', open(422)],
  ['POST', '/login', open(422)],
  [
    'POST',
    '/logout',
    { nothing: 200, service: 200, ...Object.fromEntries(Object.keys(wrong).map(kind => [kind, 200])) },
  ],
  ['POST', '/verification/request', open(422)],
  ['POST', '/verification/verify', open(422)],
  ['POST', '/password/reset-request', open(422)],
  ['POST', '/password/reset', open(422)],
  ['POST', '/tenant-exchange', open(422)],
  ['POST', '/token', open(422)],
  ['POST', '/oauth/callback', { nothing: 401, session: 401, bearer: 401, key: 401, service: 422, ...wrong }],
  ['POST', '/password/change', manage(422)],
  ['PATCH', '/me', manage(200)],
  ['GET', '/me', { nothing: 401, session: 200, bearer: 200, key: 200, service: 401, ...wrong }],
  ['PATCH', '/me/preferences', manage(200)],
  ['GET', '/me/preferences', { nothing: 401, session: 200, bearer: 200, key: 200, service: 401, ...wrong }],
  ['GET', '/me/views', manage(200)],
  ['POST', '/me/views', manage(422)],
  ['PATCH', '/me/views/999999', manage(404)],
  ['DELETE', '/me/views/999999', manage(404)],
  ['GET', '/shared-view', { ...open(401), 'a view link': 200 }],
  ['GET', '/me/view-links', manage(200)],
  ['POST', '/me/views/999999/links', manage(422)],
  ['DELETE', '/me/view-links/999999', manage(404)],
  ['GET', '/session/info', { nothing: 401, session: 200, bearer: 200, key: 401, service: 401, ...wrong }],
  ['GET', `/users/${id}`, { nothing: 401, session: 200, bearer: 200, key: 200, service: 200, ...wrong }],
  ['GET', '/users/999999', { nothing: 401, session: 403, bearer: 403, key: 403, service: 404, ...wrong }],
  ['GET', `/users/by-email/${email}`, { nothing: 401, session: 200, bearer: 200, key: 200, service: 200, ...wrong }],
  ['GET', '/api-keys', manage(200)],
  ['POST', '/api-keys', manage(422)],
  ['DELETE', '/api-keys/999999', manage(404)],
  ['POST', '/tenant-exchange', open(422)],
  ['POST', '/device/start', open(200)],
  ['POST', '/device/poll', open(422)],
  ['GET', '/device/info', manage(422)],
  ['POST', '/device/approve', manage(422)],
  ['POST', '/device/deny', manage(422)],
  ['GET', '/google-drive/start', manage(503)],
  ['GET', '/google-drive/callback', open(503)],
  ['DELETE', '/me', { nothing: 401, bearer: 403, key: 403, service: 403, ...wrong }],
]

for (const [method, path, statuses] of table) {
  t.test(`${method} ${path}`, async t => {
    for (const [at, [kind, status]] of Object.entries(statuses).entries()) {
      const body = method === 'GET' ? {} : { body: {} }
      // Each from an address of its own, as some count requests by it.
      const options = { ...body, headers: credentials[kind] ?? {}, address: `10.1.0.${at}` }
      t.equal((await ask(method, path, options)).status, status, kind)
    }
  })
}

t.test('every operation has its row', async t => {
  for (const { method, path: url } of service.operations) {
    const pattern = new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`)
    t.ok(
      table.some(([other, path]) => other === method && pattern.test(path)),
      `${method} ${url}`,
    )
  }
})

t.test('two credentials at once are nobody, where one is needed', async t => {
  const { key: _, ...others } = credentials
  const kinds = Object.entries({ ...others, key: { 'x-api-key': String(made['key']) } })
  for (const [method, path, { nothing }] of table) {
    if (nothing !== 401) continue
    const body = method === 'GET' ? {} : { body: {} }
    for (const [first, ours] of kinds) {
      for (const [second, theirs] of kinds) {
        const headers = { ...ours, ...theirs }
        if (Object.keys(headers).length < 2) continue
        t.equal((await ask(method, path, { ...body, headers })).status, 401, `${method} ${path}: ${first}, ${second}`)
      }
    }
  }
})

t.test('a service that is too busy, and one without its database, say when to come again', async t => {
  const { passwords, failures } = accounts
  const { attempt } = passwords
  const { take } = failures
  const login = () => ask('POST', '/login', { body: { email, password: goodPassword } })
  passwords.attempt = async () => {
    throw new TooBusy('full', 1)
  }
  t.match(await login(), { status: 503, headers: { 'retry-after': '1' }, body: { detail: 'Service Unavailable' } })
  passwords.attempt = attempt
  failures.take = async () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect', code: 'ECONNREFUSED' })
  }
  t.match(await login(), { status: 503, headers: { 'retry-after': '5' } })
  failures.take = take
  t.match(await login(), { status: 200 })
})

const paths = table
  .filter(([method]) => method === 'POST' || method === 'PATCH')
  .map(([method, path]) => ({ method, path }))
const plainNames = fc.constantFrom('email', 'name', 'image', 'provider', 'provider_id', 'expires_at', '__proto__')
const secretNames = fc.constantFrom('password', 'new_password', 'current_password', 'token', 'access_token')
const value = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.constant(email), fc.emailAddress())
const secret = fc.constantFrom<unknown>('geheim', 'geheim'.repeat(30), ['geheim'], { a: 'geheim' })
const member = fc.oneof(fc.tuple(plainNames, value), fc.tuple(secretNames, secret))
const object = fc.array(member).map(members => Object.fromEntries(members) as Record<string, unknown>)
const body = fc.oneof(
  object.map(members => JSON.stringify(members)),
  object.map(members => JSON.stringify([{ name: members }])),
  object.map(members => JSON.stringify(JSON.stringify(members))),
  object.map(members => JSON.stringify(members).slice(1)),
  fc.jsonValue().map(json => JSON.stringify(json)),
  fc.uint8Array().map(bytes => Buffer.from(bytes)),
)
const type = fc.constantFrom(
  'application/json',
  'text/plain',
  'application/x+json; charset=utf-16',
  ';;;',
  'multipart/form-data',
)
const word = fc.string({ unit: fc.constantFrom(...'abcXYZ019.=;, _-"%/\\'), maxLength: 60 })
const header = fc.constantFrom('cookie', 'authorization', 'x-api-key', 'x-service-secret', 'origin', 'sec-fetch-site')
const headers = fc.array(
  fc.tuple(
    header,
    fc.oneof(
      word,
      word.map(text => `Bearer ${text}`),
      word.map(text => `__Secure-authjs.session-token=${text}`),
      word.map(text => `barograph_key_${text}`),
      fc.constant(undefined).map(createKeyText),
    ),
  ),
)

t.test('no body and no header is too much', async t => {
  accounts.passwords.hash = async () => 'not computed'
  accounts.passwords.attempt = (_asker, check) => check(async () => false)
  const known = new Set([200, 201, 400, 401, 403, 404, 409, 413, 422, 429])
  const property = fc.asyncProperty(
    fc.constantFrom(...paths),
    body,
    type,
    headers,
    async ({ method, path }, sent, type, more) => {
      const answer = await ask(method, path, {
        body: sent,
        headers: { 'content-type': type, ...Object.fromEntries(more) },
      })
      if (!known.has(answer.status)) throw new Error(`${answer.status} ${answer.text}`)
      if (answer.text.includes('geheim')) throw new Error(`it tells a secret: ${answer.text}`)
      if (answer.headers['cache-control'] !== 'no-store') throw new Error('it may be kept')
      if (answer.status === 422 && !Array.isArray(answer.body['detail'])) throw new Error('no list')
    },
  )
  await fc.assert(property, { numRuns: 1000 })
  t.pass('all were answered')
})

t.test('no path is too much', async t => {
  const property = fc.asyncProperty(word, async text => {
    const path = encodeURIComponent(text)
    for (const url of [`/users/${path}`, `/users/by-email/${path}`]) {
      const { status } = await ask('GET', url, { headers: { 'x-service-secret': serviceSecret } })
      if (![200, 307, 404, 405, 422].includes(status)) throw new Error(`${status} for ${url}`)
    }
  })
  await fc.assert(property, { numRuns: 200 })
  t.pass('all were answered')
})
