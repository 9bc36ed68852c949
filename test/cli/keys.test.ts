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
  t.match(head, /^id +account +prefix +scopes +tags +state +last used +name$/)
  t.match(row, `${made['id']}   ${email}  ${made['prefix']}  read    -     active  20`)
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

t.test('a key is made without a browser', async t => {
  const words = ['keys', 'add', '--account', email, '--name', 'weather script', '--scope', 'ingest', '--scope', 'read']
  const unverified = await barograph(words, { environment })
  t.match(unverified, {
    status: 1,
    stdout: '',
    stderr: /^barograph: keys that send readings need a verified address: .*accounts verify/,
  })
  t.match(await run(`accounts verify ${email}`), { status: 0 })
  const made = await barograph([...words, '--expires-in-days', '90', '--create-devices'], { environment })
  t.match(made, { status: 0, stderr: '' })
  t.match(made.stdout, /^scopes +read ingest$/m)
  const [, key = ''] = /once:\n(barograph_key_\w+)\n$/.exec(made.stdout) ?? []
  t.equal((await ask('GET', '/me', undefined, { 'x-api-key': key })).status, 200)
  const json = JSON.parse((await run(`keys add --account ${account['id']} --name plain --json`)).stdout)
  t.match(json, {
    account: account['id'],
    scopes: ['read'],
    expires_at: null,
    create_devices: false,
    key: /^barograph_key_/,
  })
  const limited = await run(
    `keys add --account ${email} --name berlin --tag site:berlin --scope read ingest --tag room:1 --json`,
  )
  t.match(JSON.parse(limited.stdout), { scopes: ['read', 'ingest'], tags: ['room:1', 'site:berlin'] })
  t.match(JSON.parse((await run('keys list --json')).stdout)[0], { tags: ['room:1', 'site:berlin'] })
  t.match(await run(`keys add --account ${email} --name x --scope stations --tag a:b`), {
    status: 1,
    stderr: /a key with tags may have the scopes read and ingest alone/,
  })
  t.match(await run(`keys add --account ${email} --name x --tag berlin`), {
    status: 1,
    stderr: /tags\[0\]: must be a key/,
  })
  t.match((await run('audit')).stdout, /key\.create/)
  t.match(await run(`keys add --account ${email}`), { status: 2, stderr: /--name/ })
  t.match(await run(`keys add --account ${email} --name x --scope all`), { status: 2, stderr: /Allowed choices/ })
  t.match(await run('keys add --account nobody@example.com --name x'), { status: 1, stderr: /is no account/ })
})
