/** Accounts in the whole service: over HTTP, with mails as files, across a restart, and nothing secret in what it logs. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { mailedToken } from '../support/mail-folder.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

const password = 'correct horse battery'
const email = 'ada@example.com'
const service = await startService(t, { environment: { ...withoutQuestdb, LOG_LEVEL: 'debug' } })

async function ask(url: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/v1/auth${path}`, {
    method,
    redirect: 'manual' as const,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith('{') ? JSON.parse(text) : {},
  }
}

let token = ''
const secrets: string[] = [password]

t.test('register, verify by mail, log in, fetch a token, use it', async t => {
  const { url } = service
  t.match(await ask(url, 'POST', '/register', { email, password }), { status: 201, body: { email } })
  const verification = await mailedToken(service.dataDirectory, 'verify')
  t.match(await ask(url, 'POST', '/verification/verify', { token: verification }), { status: 200 })
  t.match(await ask(url, 'POST', '/login', { email, password }), { status: 200, body: { email_verified: /T/ } })
  const fetched = await ask(url, 'POST', '/token', { email, password })
  token = fetched.body.access_token
  t.match(await ask(url, 'GET', '/me', undefined, { authorization: `Bearer ${token}` }), {
    status: 200,
    body: { email },
  })
  secrets.push(verification, token)
  await ask(url, 'POST', '/register', { email: 7, password, token: verification })
  await ask(url, 'GET', `/me?token=${verification}`, undefined, { authorization: `Bearer ${token}` })
})

t.test('paths that the router cannot read are answered as the others', async t => {
  for (const path of ['/%zz', `/users/by-email/${'a'.repeat(1000)}`, '/nothing']) {
    const { status, body, headers } = await ask(service.url, 'GET', path)
    t.ok(status === 404 || status === 414, path)
    t.type(body.detail, 'string')
    t.equal(headers.get('cache-control'), 'no-store')
  }
})

t.test('the contract is published', async t => {
  t.match(await (await fetch(`${service.url}/openapi.json`)).json(), { openapi: '3.1.0' })
  t.match(await (await fetch(`${service.url}/docs/api`)).text(), '/v1/auth/register')
})

t.test('accounts, sessions and secrets survive a restart', async t => {
  await service.end('SIGTERM')
  const { dataDirectory } = service
  const again = await startService(t, { dataDirectory, environment: { ...withoutQuestdb } })
  t.match(await ask(again.url, 'GET', '/me', undefined, { authorization: `Bearer ${token}` }), { status: 200 })
  t.match(await ask(again.url, 'POST', '/logout', undefined, { authorization: `Bearer ${token}` }), { status: 200 })
  t.match(await ask(again.url, 'GET', '/me', undefined, { authorization: `Bearer ${token}` }), { status: 401 })
  await again.end('SIGTERM')
  const logged = service.output() + again.output()
  const kept = ['session-secret', 'service-secret', 'token-secret'].map(name =>
    readFileSync(join(dataDirectory, 'secrets', name), 'utf8').trim(),
  )
  for (const secret of [...secrets, ...kept, email]) t.notOk(logged.includes(secret), 'not logged')
})
