/**
 * Creates the first account, the operator, by the link that the service prints at its start. The link ends with the
 * first operator.
 *
 * Its token is an HMAC, so the link is the same after a restart and in each process. It includes the time of the
 * database's setup, so another database has another link.
 */

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import type { Account } from './account.ts'
import type { AccountParts, Client } from './account-parts.ts'
import { digestOf } from './account-tokens.ts'
import { type Admission, type NewAccount, register } from './registration.ts'

export interface Setup {
  /** Token of the link; undefined if there is an operator. */
  token(): Promise<string | undefined>
  isOpen(token: string): Promise<boolean>
  /** Only one of several concurrent requests with the token succeeds. */
  complete(token: string, operator: NewAccount, client: Client): Promise<Outcome<Account>>
}

const asOperator: Admission = async () => accepted({ role: 'operator', isViewer: false, isVerified: false })

export function createSetup(parts: AccountParts, secret: string): Setup {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'barograph setup link', 32))
  let known: string | undefined
  let isOver = false

  async function token(): Promise<string> {
    known ??= createHmac('sha256', key)
      .update(await setUpTime(parts.pool))
      .digest('base64url')
    return known
  }

  /** There is always an operator after the first one, so only false has to be looked up again. */
  async function hasOperator(): Promise<boolean> {
    if (!isOver) {
      const { rows } = await parts.pool.query("SELECT 1 FROM accounts WHERE role = 'operator'")
      isOver = rows.length > 0
    }
    return isOver
  }

  async function isOpen(sent: string): Promise<boolean> {
    return timingSafeEqual(digestOf(sent), digestOf(await token())) && !(await hasOperator())
  }

  return {
    isOpen,
    token: async () => ((await hasOperator()) ? undefined : await token()),
    async complete(sent, operator, client) {
      if (!(await isOpen(sent))) return refused('TOKEN_INVALID')
      try {
        return await register(parts, operator, client, asOperator)
      } catch (error) {
        if (isUniqueViolation(error, 'accounts_operator')) return refused('TOKEN_INVALID')
        throw error
      }
    },
  }
}

/** Returns microseconds. */
async function setUpTime(database: Transaction): Promise<string> {
  const { rows } = await database.query<{ time: string }>(
    'SELECT (extract(epoch FROM min(applied_at)) * 1000000)::bigint::text AS time FROM schema_migrations',
  )
  const [row] = rows
  if (row === undefined) throw new Error('an aggregate gives a row')
  return row.time
}
