/** API keys on a real PostgreSQL: how they come to be, what they are good for, and what ends them. */

import t from 'tap'
import { changeAccount } from '../../auth/accounts/account-parts.ts'
import type { Scope } from '../../auth/keys/key.ts'
import { insertKey } from '../../auth/keys/key-rows.ts'
import { isKeyText } from '../../auth/keys/key-text.ts'
import { startAccounts } from '../support/accounts.ts'
import { waitFor } from '../support/wait-for.ts'

const service = await startAccounts(t)
const { accounts, person, store, clock, mails } = service
const pool = store.postgres

function insert(accountId: number, { scopes = ['read'] as Scope[], expiresMs = null as number | null } = {}) {
  const request = { accountId, name: 'a script', scopes, createDevices: false, expiresMs, nowMs: clock.ms }
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
