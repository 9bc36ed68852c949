/** Look-ups of users: anybody's for the front end, one's own for everybody else. */

import type { Account } from '../../auth/accounts/account.ts'
import { mayRead, type Principal } from '../../auth/policy.ts'
import type { AccountService } from './account-service.ts'
import { type AccountOperation, type Answer, operation } from './kit/operation.ts'
import { EmailPath, UserPath, UserResponse, userResponse } from './schemas.ts'

const idMax = 2_147_483_647
const lengthMax = 254

export function lookUpOperations({ accounts }: AccountService): AccountOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/users/by-email/:email',
      name: 'get_user_by_email',
      summary: 'A user by e-mail address',
      permission: 'account.read',
      parameters: { path: EmailPath },
      success: { status: 200, description: 'The user', json: UserResponse },
      refusals: ['UNAUTHENTICATED', 'FORBIDDEN', 'ACCOUNT_UNKNOWN', 'UNAVAILABLE'],
      async handle({ principal, path: { email } }) {
        const account = email.length > lengthMax ? undefined : await accounts.findByEmail(email)
        return answerOf(principal, account)
      },
    }),
    operation({
      method: 'GET',
      path: '/users/:user_id',
      name: 'get_user_by_id',
      summary: 'A user by id',
      permission: 'account.read',
      parameters: { path: UserPath },
      success: { status: 200, description: 'The user', json: UserResponse },
      refusals: ['UNAUTHENTICATED', 'FORBIDDEN', 'ACCOUNT_UNKNOWN', 'UNAVAILABLE'],
      async handle({ principal, path: { user_id: id } }) {
        const account = id >= 1 && id <= idMax ? await accounts.find(id) : undefined
        return answerOf(principal, account)
      },
    }),
  ]
}

/** Who may not read it does not learn whether it is there. */
function answerOf(principal: Principal | undefined, account: Account | undefined): Answer {
  if (principal === undefined || !mayRead(principal, account?.id)) return { ok: false, code: 'FORBIDDEN' }
  return account === undefined ? { ok: false, code: 'ACCOUNT_UNKNOWN' } : { ok: true, value: userResponse(account) }
}
