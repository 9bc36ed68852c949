/** The output of a whole run of the service: its log, responses, tables, mails and PostgreSQL's log have no secret. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import pg from 'pg'
import t from 'tap'
import { createSessionCodec } from '../../../auth/sessions/session-codec.ts'
import { postgresUrl } from '../../../cli/demo/cluster/database-settings.ts'
import { startDatabases } from '../../support/databases.ts'
import { readMails } from '../../support/mail-folder.ts'
import { startService, withoutQuestdb } from '../../support/service.ts'
import { waitFor } from '../../support/wait-for.ts'

const { store, directory } = await startDatabases(t, {
  questdbHttp: withoutQuestdb.QUESTDB_HTTP,
  questdbPg: withoutQuestdb.QUESTDB_PG,
})
const databasePassword = store.postgres.options.password
const databaseUrl = postgresUrl(store.postgres)
const service = await startService(t, {
  environment: { ...withoutQuestdb, DATABASE_URL: databaseUrl, LOG_LEVEL: 'debug', LOG_FORMAT: 'json' },
})
const database = new pg.Client({ connectionString: databaseUrl })
await database.connect()
t.teardown(() => database.end())

const secretFile = (name: string) => readFileSync(join(service.dataDirectory, 'secrets', name), 'utf8').trim()
const password = 'Correct-Horse-Battery-1'
const nextPassword = 'Another-Fine-Phrase-2'
const lastPassword = 'A-Third-Fine-Phrase-3'
const wrongPassword = 'Not-The-Password-4'
const email = 'ada@example.com'
/** The secrets by name, with the responses that may contain them. */
const secrets = new Map<string, { text: string; due: string[] }>()
const answers: { what: string; text: string }[] = []
const note = (name: string, text: unknown, ...due: string[]) => {
  if (typeof text !== 'string' || text.length < 16) throw new Error(`no ${name}: ${String(text)}`)
  secrets.set(name, { text, due })
}
for (const [at, text] of [password, nextPassword, lastPassword, wrongPassword].entries()) note(`password ${at}`, text)
for (const name of ['admin-token', 'service-secret', 'session-secret', 'token-secret']) note(name, secretFile(name))
note("the database's password", databasePassword)

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const isRaw = typeof body === 'string'
  const type = body === undefined || isRaw ? {} : { 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: isRaw ? body : JSON.stringify(body) }
  const all = { ...type, ...headers }
  const response = await fetch(`${service.url}${path}`, { method, headers: all, ...sent, redirect: 'manual' })
  const text = await response.text()
  const what = `${method} ${path.split('?')[0]} ${response.status}`
  answers.push({ what, text: `${JSON.stringify([...response.headers])}\n${text}` })
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : {} }
}
const auth = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  ask(method, `/v1/auth${path}`, body, headers)
/** Sends a request and expects its status. */
async function expects(status: number, ...request: Parameters<typeof auth>) {
  const answer = await auth(...request)
  t.equal(answer.status, status, `${request[0]} ${request[1]}`)
  return answer
}

const codecSecrets = [secretFile('session-secret')]
const codec = createSessionCodec({ format: 'jwe-v5', secrets: codecSecrets, isSecure: false, nowMs: Date.now })
async function cookieOf(id: number): Promise<Record<string, string>> {
  const iat = Math.floor(Date.now() / 1000)
  // A change of the password is rounded up to the second.
  const token = await codec.encode({ sub: String(id), iat, auth_time: iat + 2, exp: iat + 3600 })
  note(`cookie ${secrets.size}`, token)
  return { cookie: `${codec.cookieName}=${token}` }
}

async function tokenByMail(subject: string): Promise<string> {
  const find = () => readMails(service.dataDirectory).find(mail => mail.includes(`Subject: ${subject}`))
  await waitFor(`the mail: ${subject}`, () => find() !== undefined)
  return /\?token=([\w-]{43})/.exec(find() ?? '')?.[1] ?? ''
}

t.test('all operations run, many of them with errors', async t => {
  const registered = await expects(201, 'POST', '/register', { email, password, name: 'Ada' })
  const verification = await tokenByMail('Confirm your e-mail address')
  note('verification token', verification)
  await expects(400, 'POST', '/verification/verify', { token: `${verification}x` })
  await expects(200, 'POST', '/verification/verify', { token: verification })
  await expects(200, 'POST', '/login', { email, password })
  await expects(401, 'POST', '/login', { email, password: wrongPassword })
  const fetched = await auth('POST', '/token', { email, password })
  note('bearer', fetched.body.access_token, 'POST /v1/auth/token 200')
  const authorization = `Bearer ${fetched.body.access_token}`
  await expects(200, 'GET', '/me', undefined, { authorization })
  const cookie = await cookieOf(registered.body.id)
  const created = await auth('POST', '/api-keys', { name: 'a script' }, cookie)
  note('key', created.body.key, 'POST /v1/auth/api-keys 201')
  const { key } = created.body
  await expects(200, 'GET', '/me', undefined, { 'x-api-key': key })
  await expects(200, 'GET', '/api-keys', undefined, cookie)
  await expects(200, 'DELETE', `/api-keys/${created.body.id}`, undefined, cookie)
  await expects(401, 'GET', '/me', undefined, { 'x-api-key': key })

  const service = { 'x-service-secret': secretFile('service-secret') }
  await expects(200, 'GET', `/users/by-email/${email}`, undefined, service)
  t.equal((await ask('GET', '/openapi.json')).status, 200)
  t.equal((await ask('GET', '/metrics')).status, 200)
  await wrongPlaces(key, authorization, cookie)

  await expects(400, 'POST', '/password/change', change(wrongPassword, nextPassword), cookie)
  const fresh = await expects(200, 'POST', '/password/change', change(password, nextPassword), cookie)
  const set = /=([^;]+)/.exec(fresh.headers.get('set-cookie') ?? '')?.[1]
  note('fresh cookie', set, 'POST /v1/auth/password/change 200')
  await expects(200, 'POST', '/password/reset-request', { email })
  const reset = await tokenByMail('Set a new password')
  note('reset token', reset)
  await expects(422, 'POST', '/password/reset', { token: reset, password: 'short' })
  await expects(200, 'POST', '/password/reset', { token: reset, password: lastPassword })
  const outbox = async () => (await database.query('SELECT 1 FROM mail_outbox')).rows
  await waitFor('the outbox is empty', async () => (await outbox()).length === 0)
})

const change = (current_password: string, new_password: string) => ({ current_password, new_password })

/** Sends secrets in wrong fields. */
async function wrongPlaces(key: string, authorization: string, cookie: Record<string, string>): Promise<void> {
  const json = { 'content-type': 'application/json' }
  for (const path of [`/users/by-email/${key}`, `/users/${key}`, `/${key}`, `/me?key=${key}`]) {
    await auth('GET', path, undefined, cookie)
  }
  await ask('GET', `/${key}`)
  await ask('GET', `/api/device/${key}`)
  await ask('PUT', '/api/log', { device: 'x' }, { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` })
  await ask('GET', '/api/admin/devices', undefined, { authorization })
  await auth('DELETE', `/api-keys/${key}`, undefined, cookie)
  await auth('GET', '/me', undefined, { authorization, 'x-api-key': key })
  await auth('POST', '/register', { email, password })
  await auth('POST', '/register', { email: { password }, password: [password], name: { token: key } })
  await auth('POST', '/register', { email: 'eve@example.com', password: { password } })
  await auth('POST', '/login', `password=${password}`, { 'content-type': 'application/x-www-form-urlencoded' })
  await auth('POST', '/login', `{"email":"${email}","password":"${password}"`, json)
  await auth('POST', '/login', JSON.stringify(JSON.stringify({ password })), json)
  await auth('POST', '/login', JSON.stringify([[{ password }]]), json)
  await auth('POST', '/oauth/callback', { email, provider: 'nobody', provider_id: '1', access_token: key })
  await auth('POST', '/verification/verify', { token: key })
  await auth('POST', '/api-keys', { name: `${key}${'!'.repeat(100)}`, scopes: [key] }, cookie)
}

t.test('keys of devices and tokens of partners are exchanged', async t => {
  const { body: person } = await auth('POST', '/login', { email, password: lastPassword })
  const cookie = await cookieOf(person.id)
  const started = await auth('POST', '/device/start', { client_name: 'a script' })
  const { device_code, user_code } = started.body
  note('device code', device_code, 'POST /v1/auth/device/start 200')
  await expects(404, 'POST', '/device/poll', { device_code: `${device_code}x` })
  await expects(200, 'GET', `/device/info?user_code=${user_code}`, undefined, cookie)
  await expects(200, 'POST', '/device/approve', { user_code }, cookie)
  const polled = await auth('POST', '/device/poll', { device_code })
  note('key of the device', polled.body.api_key, 'POST /v1/auth/device/poll 200')
  t.equal((await auth('POST', '/device/poll', { device_code })).body.status, 'denied')

  const admin = { authorization: `Bearer ${secretFile('admin-token')}` }
  const tenant = await ask('POST', '/api/admin/tenants', { slug: 'acme', name: 'Acme' }, admin)
  note("a tenant's secret", tenant.body.secret, 'POST /api/admin/tenants 201')
  const audience = `${service.url}/v1/auth/tenant-exchange`
  const seconds = Math.floor(Date.now() / 1000)
  const claims = { email: 'bob@example.com', name: 'Bob', iss: 'acme', aud: audience, sub: '7', jti: '1' }
  const token = await new SignJWT({ ...claims, iat: seconds, exp: seconds + 60 })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(tenant.body.secret))
  note("a tenant's token", token)
  const exchange = (token: string) => auth('POST', '/tenant-exchange', { tenant_slug: 'acme', token })
  const exchanged = await exchange(token)
  t.equal(exchanged.status, 200)
  note("a tenant user's bearer", exchanged.body.access_token, 'POST /v1/auth/tenant-exchange 200')
  t.equal((await exchange(token)).status, 409)
  t.equal((await exchange(`${token}x`)).status, 401)
  for (const path of ['/tenants', '/tenants/acme', '/keys', '/accounts', '/audit']) {
    t.equal((await ask('GET', `/api/admin${path}`, undefined, admin)).status, 200, path)
  }
})

t.test("the service's log, PostgreSQL's log and other responses have no secret", async t => {
  await service.end('SIGTERM')
  const output = service.output()
  t.match(output, /"msg":"listening"/)
  const postgresLog = readFileSync(join(directory.postgres, 'postgres.log'), 'utf8')
  for (const [name, { text, due }] of secrets) {
    t.notOk(output.includes(text), `${name} in the log`)
    t.notOk(postgresLog.includes(text), `${name} in the log of PostgreSQL`)
    const where = answers.filter(answer => answer.text.includes(text)).map(({ what }) => what)
    t.strictSame(where, due, `${name} in answers`)
  }
})

t.test('no table has a secret', async t => {
  const { rows: tables } = await database.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'",
  )
  t.ok(tables.length >= 10)
  for (const { name: table } of tables) {
    const { rows } = await database.query<{ row: string }>(`SELECT to_jsonb(${table})::text AS row FROM ${table}`)
    const text = rows.map(({ row }) => row).join('\n')
    // PostgreSQL shows bytes in hexadecimal digits.
    const isShown = (secret: string) => text.includes(secret) || text.includes(Buffer.from(secret).toString('hex'))
    const shown = [...secrets].flatMap(([name, secret]) => (isShown(secret.text) ? [name] : []))
    t.strictSame(shown, [], table)
  }
  const { rows } = await database.query('SELECT DISTINCT action FROM audit')
  t.ok(rows.length >= 5, 'the audit has its rows')
})

t.test('mails have their token, and no other secret', async t => {
  const texts = readMails(service.dataDirectory)
  t.ok(texts.length >= 4)
  for (const [name, { text }] of secrets) {
    const count = texts.filter(mail => mail.includes(text)).length
    t.equal(count, /^(verification|reset) token$/.test(name) ? 1 : 0, name)
  }
})
