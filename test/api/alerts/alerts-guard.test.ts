/** Who may use the API of alerts, by which credential, and on which paths. */

import t from 'tap'
import type { Owner } from '../../../alerts/core/outcome.ts'
import type { AlertRules } from '../../../alerts/store/rules.ts'
import { goodPassword, serviceSecret } from '../../support/accounts.ts'
import { startAlertsApi, tokenHeaders } from '../../support/alerts-api.ts'

/** Whoever asks is all that is looked at here. */
const owners: Owner[] = []
const rules = {
  list(who: Owner) {
    owners.push(who)
    return Promise.resolve([])
  },
} as unknown as AlertRules

const { app, people, store, ask } = await startAlertsApi(t, () => {
  return {
    alerts: { rules } as never,
    numberOf: () => undefined,
    deviceOf: () => undefined,
    timeZone: 'UTC',
    nowMs: Date.now,
  }
})

async function personOf(role: string, { isUnverified = false } = {}) {
  const email = `${role}${isUnverified ? '-unverified' : ''}@example.com`
  const id = await people.person(email, { isUnverified })
  const set = 'UPDATE accounts SET role = $2 WHERE id = $1'
  await people.accounts.memory.change(id, () => store.postgres.query(set, [id, role]))
  const { body } = await people.ask('POST', '/token', { body: { email, password: goodPassword } })
  return { id, cookie: (await people.cookieOf(id)).cookie, token: String(body['access_token']) }
}

async function keyOf(cookie: string, scopes: string[]): Promise<Record<string, string>> {
  const headers = { cookie, origin: 'https://app.example' }
  const { status, body } = await people.ask('POST', '/api-keys', { headers, body: { name: 'k', scopes } })
  t.equal(status, 201)
  return { 'x-api-key': String(body['key']) }
}

const user = await personOf('user')
const unverified = await personOf('user', { isUnverified: true })
const administrator = await personOf('administrator')
const path = '/api/alert-rules'

t.test(
  'people come in by a session or a key with the scope, and see what is theirs; administrators see all',
  async t => {
    const table: [who: string, headers: Record<string, string>, status: number, owner?: Owner][] = [
      ['nobody', {}, 401],
      ['the admin token', tokenHeaders, 200, { all: true, account: null }],
      ['a session', { cookie: user.cookie }, 200, { all: false, account: user.id }],
      ['a key with the scope', await keyOf(user.cookie, ['alerts']), 200, { all: false, account: user.id }],
      ['a key without it', await keyOf(user.cookie, ['read']), 403],
      ['a session without an address', { cookie: unverified.cookie }, 403],
      ['an administrator', { cookie: administrator.cookie }, 200, { all: true, account: administrator.id }],
      ['a key of one', await keyOf(administrator.cookie, ['alerts']), 200, { all: true, account: administrator.id }],
      ['a key of one without the scope', await keyOf(administrator.cookie, ['admin']), 403],
      ['a bearer token', { authorization: `Bearer ${user.token}` }, 401],
      ['the service secret', { 'x-service-secret': serviceSecret }, 401],
      ['two credentials', { ...tokenHeaders, cookie: user.cookie }, 401],
    ]
    for (const [who, headers, status, owner] of table) {
      owners.length = 0
      const answer = await ask('GET', path, undefined, headers)
      t.equal(answer.status, status, who)
      t.strictSame(owners, owner === undefined ? [] : [owner], who)
      t.equal(answer.headers['cache-control'], 'no-store', who)
      // Whoever is not let in learns nothing of paths and methods.
      t.equal((await ask('PUT', path, undefined, headers)).status, status === 200 ? 405 : status, `${who}: no method`)
      t.equal(
        (await ask('GET', `${path}/a/b`, undefined, headers)).status,
        status === 200 ? 404 : status,
        `${who}: no path`,
      )
    }
  },
)

t.test('the bare prefix, with and without a slash, answers problem documents', async t => {
  for (const url of [path, `${path}/`, `${path}?limit=5`]) {
    t.match(await ask('GET', url), { status: 200, body: { rules: [], next: null } }, url)
  }
  t.match(await ask('GET', path, undefined, {}), {
    status: 401,
    headers: { 'content-type': 'application/problem+json' },
  })
  t.match(await ask('POST', path, '{'), { status: 400, body: { title: 'invalid json' } })
  for (const url of [`${path}?limit=0`, `${path}?limit=1001`, `${path}?after=x`, `${path}?page=1`]) {
    t.match(await ask('GET', url), { status: 400, body: { title: 'invalid query' } }, url)
  }
  t.match(await ask('GET', `${path}/%zz`), { status: 400, body: { title: 'bad request' } })
  t.match(await ask('GET', `${path}/%zz`, undefined, {}), { status: 401, body: { title: 'unauthorized' } })
})

t.test('a page of another site changes nothing with a cookie', async t => {
  const asked = { 'content-type': 'application/json', cookie: user.cookie, 'sec-fetch-site': 'cross-site' }
  const response = await app.inject({ method: 'POST', url: path, headers: asked, payload: '{}' })
  t.match(response.json(), { status: 403, title: 'cross-site request' })
})
