/** `barograph keys` against a real service. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createSessionCodec } from '../../auth/sessions/session-codec.ts'
import { barograph } from '../support/command-line.ts'
import { startService, withoutQuestdb } from '../support/service.ts'

const service = await startService(t, { environment: withoutQuestdb })
const environment = { DATA_DIR: service.dataDirectory, PORT: new URL(service.url).port }
const run = (words: string) => barograph(words.split(' '), { environment })

async function ask(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${service.url}/v1/auth${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const email = 'ada@example.com'
const { body: account } = await ask('POST', '/register', { email, password: 'correct horse battery' })
const secret = readFileSync(join(service.dataDirectory, 'secrets', 'session-secret'), 'utf8').trim()
const codec = createSessionCodec({ format: 'jwe-v5', secrets: [secret], isSecure: false, nowMs: Date.now })
const iat = Math.floor(Date.now() / 1000)
const session = await codec.encode({ sub: String(account['id']), iat, auth_time: iat, exp: iat + 3600 })
const cookie = { cookie: `${codec.cookieName}=${session}` }

t.test('keys are listed and revoked', async t => {
  t.match(await run('keys list'), { status: 0, stdout: 'no keys\n' })
  const { body: made } = await ask('POST', '/api-keys', { name: 'a\u202escript' }, cookie)
  const key = { 'x-api-key': String(made['key']) }
  t.equal((await ask('GET', '/me', undefined, key)).status, 200)
  const listed = await run(`keys list --account ${email}`)
  t.match(listed, { status: 0, stderr: '' })
  const [head, row] = listed.stdout.split('\n')
  t.match(head, /^id +account +prefix +scopes +state +last used +name$/)
  t.match(row, `${made['id']}   ${email}  ${made['prefix']}  read    active  20`)
  t.match(row, /a\\u202escript$/)
  t.notMatch(listed.stdout, String(made['key']))
  const [json] = JSON.parse((await run('keys list --json')).stdout)
  t.match(json, { id: made['id'], account: account['id'], email, scopes: ['read'], state: 'active' })
  t.match(await run(`keys revoke ${made['id']}`), { status: 0, stdout: `revoked key ${made['id']}\n` })
  t.equal((await ask('GET', '/me', undefined, key)).status, 401)
  t.match((await run('keys list')).stdout, /revoked/)
})

t.test('what cannot be done is told in a sentence', async t => {
  t.match(await run('keys revoke 999999'), { status: 1, stderr: 'barograph: key unknown\n' })
  t.match(await run('keys revoke x'), { status: 2, stderr: /must be a whole number/ })
  t.match(await run('keys list --account nobody@example.com'), { status: 1, stderr: /account: is no account/ })
})
