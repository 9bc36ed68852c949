/**
 * The first account, that of the operator: made by whoever holds a link that is shown where the service was started. Its
 * token is in memory alone, is another one after each start, and ends with the first operator.
 */

import { timingSafeEqual } from 'node:crypto'
import { isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import type { Account } from './account.ts'
import type { AccountParts, Client } from './account-parts.ts'
import { createToken, digestOf } from './account-tokens.ts'
import { type Admission, type NewAccount, register } from './registration.ts'

export interface Setup {
  /** For the link; undefined when there is an operator. */
  token(): Promise<string | undefined>
  isOpen(token: string): Promise<boolean>
  /** Of many who come with the token, one becomes the operator. */
  complete(token: string, operator: NewAccount, client: Client): Promise<Outcome<Account>>
}

const asOperator: Admission = async () => accepted({ role: 'operator', isViewer: false, isVerified: false })

export function createSetup(parts: AccountParts): Setup {
  const token = createToken()
  const digest = digestOf(token)
  let isOver = false

  /** Nobody stops being the operator without another one, so this is asked until it is true. */
  async function hasOperator(): Promise<boolean> {
    if (!isOver) {
      const { rows } = await parts.pool.query("SELECT 1 FROM accounts WHERE role = 'operator'")
      isOver = rows.length > 0
    }
    return isOver
  }

  async function isOpen(sent: string): Promise<boolean> {
    return timingSafeEqual(digestOf(sent), digest) && !(await hasOperator())
  }

  return {
    isOpen,
    token: async () => ((await hasOperator()) ? undefined : token),
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
