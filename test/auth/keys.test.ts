/** API keys on a real PostgreSQL: how they come to be, what they are good for, and what ends them. */

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { changeAccount } from '../../auth/accounts/account-parts.ts'
import { sweepStatements } from '../../auth/accounts/sweep.ts'
import type { Scope } from '../../auth/keys/key.ts'
import { insertKey } from '../../auth/keys/key-rows.ts'
import { createKeyText, isKeyText } from '../../auth/keys/key-text.ts'
import { openKeys } from '../../auth/keys/keys.ts'
import { startAccounts } from '../support/accounts.ts'
import { waitFor } from '../support/wait-for.ts'

const service = await startAccounts(t)
const { accounts, keys, person, store, clock, mails } = service
const pool = store.postgres

function insert(
  accountId: number,
  { scopes = ['read'] as Scope[], expiresMs = null as number | null, tags = [] as string[] } = {},
) {
  const request = { accountId, name: 'a script', scopes, createDevices: false, tags, expiresMs, nowMs: clock.ms }
  return changeAccount(accounts, accountId, transaction => insertKey(transaction, request))
}

t.test('a key is made with its notice and its row of the audit, and only its digest is stored', async t => {
  const id = await person('owner@example.com')
  const made = await insert(id, { scopes: ['stations', 'read', 'read'] })
  accounts.mailDue()
  if (!made.ok) throw new Error(made.code)
  t.ok(isKeyText(made.value.text))
  t.strictSame(made.value.scopes, ['read', 'stations'])
  await waitFor('its owner is told', () =>
    mails.some(({ to, subject }) => to === 'owner@example.com' && /API key/.test(subject)),
  )
  const { rows } = await pool.query('SELECT to_jsonb(api_keys) AS row FROM api_keys')
  t.match(rows, [{ row: { account_id: id, name: 'a script', prefix: made.value.prefix, revoked_at: null } }])
  t.notMatch(JSON.stringify(rows), made.value.text)
  const { rows: audit } = await pool.query("SELECT * FROM audit WHERE action = 'key.create'")
  t.match(audit, [{ subject: `account ${id}`, details: { prefix: made.value.prefix } }])
  t.notMatch(JSON.stringify(audit), made.value.text)
})

t.test('garbage and unknown keys cost PostgreSQL nothing, or little', async t => {
  const asked = countReads()
  for (const text of ['', 'x', 'barograph_key_', createKeyText().slice(1), `${createKeyText().slice(0, -1)}!`]) {
    t.equal(await keys.find(text), undefined)
  }
  t.equal(asked(), 0)
  const unknown = createKeyText()
  const found = await Promise.all(Array.from({ length: 16 }, () => keys.find(unknown)))
  t.strictSame(new Set(found), new Set([undefined]))
  t.equal(asked(), 1, 'at the same time it is asked once')
  await keys.find(unknown)
  t.equal(asked(), 1, 'and not again')
  clock.ms += 5_000
  await keys.find(unknown)
  t.equal(asked(), 2, 'for five seconds')
})

t.test('a known key is read once', async t => {
  const id = await person('read-once@example.com')
  const text = await made(id)
  const asked = countReads()
  const found = await Promise.all(Array.from({ length: 16 }, () => keys.find(text)))
  for (const principal of found) t.match(principal, { kind: 'key', account: { id }, scopes: ['read'] })
  await keys.find(text)
  t.equal(asked(), 2, 'the key, and its account')
})

t.test('when a key was last used is in the list at once, and in PostgreSQL in the end', async t => {
  const id = await person('user@example.com')
  const own = openKeys({ parts: accounts, flushMs: 1_000_000 })
  const account = await accounts.find(id)
  if (account === undefined) throw new Error('no such account')
  const first = await made(id)
  const second = await made(id)
  const stored = async () => {
    const { rows } = await pool.query('SELECT last_used_at FROM api_keys WHERE account_id = $1 ORDER BY id', [id])
    return rows.map(row => row.last_used_at?.getTime() ?? null)
  }
  clock.ms += 1000
  await own.find(first)
  const usedMs = clock.ms
  t.strictSame(
    (await own.list(account)).map(({ lastUsedMs }) => lastUsedMs),
    [null, usedMs],
  )
  t.strictSame(await stored(), [null, null])
  clock.ms += 1000
  await own.find(first)
  await own.find(second)
  await own.close()
  t.strictSame(await stored(), [usedMs + 1000, usedMs + 1000])
  const next = openKeys({ parts: accounts })
  t.teardown(() => next.close())
  await next.find(second)
  t.strictSame(
    (await next.list(account)).map(({ lastUsedMs }) => lastUsedMs),
    [usedMs + 1000, usedMs + 1000],
  )
})

t.test('when a key was last used is the later one of what two processes know', async t => {
  const id = await person('two-processes@example.com')
  const text = await made(id)
  const account = await accounts.find(id)
  if (account === undefined) throw new Error('no such account')
  const [one, other] = [openKeys({ parts: accounts }), openKeys({ parts: accounts })]
  const lastUses = async () => [
    (await one.list(account))[0]?.lastUsedMs,
    (await one.page({ accountId: id, from: 0, rowsMax: 1 })).owned[0]?.lastUsedMs,
  ]
  clock.ms += 1000
  await one.find(text)
  clock.ms += 1000
  await other.find(text)
  await other.close()
  t.strictSame(await lastUses(), [clock.ms, clock.ms])
  clock.ms += 1000
  await one.find(text)
  t.strictSame(await lastUses(), [clock.ms, clock.ms])
  await one.close()
})

t.test('a key that is over stays in the list for 30 days', async t => {
  const id = await person('swept@example.com')
  const dayMs = 24 * 3_600_000
  await made(id, { expiresMs: clock.ms + dayMs })
  await made(id)
  const sweep = async () => {
    for (const text of sweepStatements) await pool.query(text, [new Date(clock.ms)])
    return (await pool.query('SELECT 1 FROM api_keys WHERE account_id = $1', [id])).rows.length
  }
  clock.ms += 31 * dayMs - 1
  t.equal(await sweep(), 2)
  clock.ms += 1
  t.equal(await sweep(), 1, 'one that does not expire stays')
})

t.test('a key that is revoked while its account is read is refused once the revocation is answered', async t => {
  const id = await person('revoked@example.com')
  const text = await made(id)
  await keys.find(text)
  // Its account is forgotten, and the next read of it is held.
  await changeAccount(accounts, id, async () => undefined)
  const query = pool.query.bind(pool)
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  t.teardown(() => Object.assign(pool, { query }))
  const holding = async (...given: Parameters<typeof query>) => {
    const answer = await query(...given)
    if (/FROM accounts WHERE id = \$1/.test(String(given[0]))) {
      begun.resolve()
      await held.promise
    }
    return answer
  }
  Object.assign(pool, { query: holding })
  const found = [keys.find(text), keys.find(text)]
  await begun.promise
  Object.assign(pool, { query })
  const account = { id } as Parameters<typeof keys.revoke>[0]
  const { rows } = await pool.query('SELECT id FROM api_keys WHERE account_id = $1', [id])
  t.match(await keys.revoke(account, rows[0].id), { ok: true })
  held.resolve()
  t.strictSame(await Promise.all(found), [undefined, undefined])
})

t.test('an inactive account gets no key, whoever asks for it', async t => {
  const id = await person('inactive@example.com')
  await pool.query('UPDATE accounts SET is_active = false WHERE id = $1', [id])
  t.match(await insert(id), { ok: false, code: 'ACCOUNT_INACTIVE' })
  t.match(await insert(999_999), { ok: false, code: 'ACCOUNT_INACTIVE' })
})

t.test('keys of those who are administrators no more lose the scope with the update', async t => {
  const text = await readFile(new URL('../../store/postgres/migrations/014-key-scopes.sql', import.meta.url), 'utf8')
  const id = await person('demoted@example.com')
  const set = (role: string) => pool.query('UPDATE accounts SET role = $2 WHERE id = $1', [id, role])
  await set('administrator')
  await made(id, { scopes: ['admin', 'read'] })
  const migrated = async () => {
    await pool.query(text)
    return (await pool.query('SELECT scopes FROM api_keys WHERE account_id = $1', [id])).rows
  }
  t.strictSame(await migrated(), [{ scopes: ['read', 'admin'] }])
  await set('user')
  t.strictSame(await migrated(), [{ scopes: ['read'] }])
})

t.test('a key from before addresses were asked for sends readings, and adds no devices', async t => {
  const id = await person('earlier@example.com')
  const request = { accountId: id, name: 'gateway', scopes: ['ingest' as const], createDevices: true, expiresMs: null }
  const inserted = await changeAccount(accounts, id, transaction =>
    insertKey(transaction, { ...request, nowMs: clock.ms }),
  )
  if (!inserted.ok) throw new Error(inserted.code)
  const setVerified = (at: Date | null) =>
    accounts.memory.change(id, () => pool.query('UPDATE accounts SET email_verified_at = $2 WHERE id = $1', [id, at]))
  const find = () => keys.find(inserted.value.text)
  t.match(await find(), { scopes: ['ingest'], createDevices: true })
  await setVerified(null)
  t.match(await find(), { scopes: ['ingest'], createDevices: false })
  await setVerified(new Date(clock.ms))
  t.match(await find(), { scopes: ['ingest'], createDevices: true })
})

t.test('a key that is limited to tags says so wherever it is shown, and may only read and send readings', async t => {
  const id = await person('limited@example.com')
  const tags = ['room:1', 'site:berlin']
  const text = await made(id, { scopes: ['read', 'ingest'], tags })
  t.strictSame((await keys.find(text))?.tags, tags)
  t.equal((await keys.find(await made(id)))?.tags, undefined)
  const account = await accounts.find(id)
  if (account === undefined) throw new Error('no such account')
  t.strictSame(
    (await keys.list(account)).map(key => key.tags),
    [[], tags],
  )
  const { owned } = await keys.page({ accountId: id, from: 0, rowsMax: 10 })
  t.strictSame(
    owned.map(key => key.tags),
    [[], tags],
  )
  const { rows } = await pool.query(
    "SELECT details FROM audit WHERE action = 'key.create' AND subject = $1 ORDER BY id",
    [`account ${id}`],
  )
  t.match(rows, [{ details: { tags } }, { details: { scopes: ['read'] } }])
  for (const scope of ['stations', 'admin'] as const) {
    await accounts.memory.change(id, () => pool.query("UPDATE accounts SET role = 'administrator' WHERE id = $1", [id]))
    t.match(await insert(id, { scopes: ['read', scope], tags }), { ok: false, code: 'TAGS_NOT_ALLOWED' }, scope)
  }
})

t.test('a key that was not made leaves no notice', async t => {
  const id = await person('unmade@example.com')
  t.match(await insert(id, { scopes: ['admin'] }), { ok: false, code: 'SCOPE_NOT_ALLOWED' })
  const { rows } = await pool.query("SELECT 1 FROM mail_outbox WHERE account_id = $1 AND kind = 'key-created'", [id])
  t.strictSame(rows, [])
})

/** How many statements about keys have gone to PostgreSQL since; the mailer has its own. */
function countReads(): () => number {
  let count = 0
  const { query } = pool
  const counting = (...statement: Parameters<typeof query>) => {
    if (String(statement[0]).includes('api_keys')) count += 1
    return query.apply(pool, statement)
  }
  pool.query = counting as typeof query
  t.teardown(() => {
    pool.query = query
  })
  return () => count
}

async function made(id: number, more = {}): Promise<string> {
  const inserted = await insert(id, more)
  if (!inserted.ok) throw new Error(inserted.code)
  return inserted.value.text
}
