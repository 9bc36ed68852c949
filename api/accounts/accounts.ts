/**
 * The account service, `/v1/auth`: its operations, in the conventions of kit/. Who may do what stands in
 * auth/policy.ts; what is done, in auth/accounts/, auth/sessions/ and auth/keys/.
 */

import type { RouteFamily } from '../http/route-family.ts'
import type { AccountService } from './account-service.ts'
import { apiKeyOperations } from './api-keys.ts'
import { sendError } from './kit/errors.ts'
import type { Operation } from './kit/operation.ts'
import { type KitOptions, registerOperations } from './kit/register.ts'
import { lookUpOperations } from './look-ups.ts'
import { mailTokenOperations } from './mail-tokens.ts'
import { profileOperations } from './profile.ts'
import { signInOperations } from './sign-in.ts'

export const accountsPrefix = '/v1/auth'

export function accountOperations(service: AccountService): Operation[] {
  return [
    ...signInOperations(service),
    ...mailTokenOperations(service),
    ...profileOperations(service),
    ...lookUpOperations(service),
    ...apiKeyOperations(service),
  ]
}

/** All operations below the prefix, of whichever folder they are. */
export function accountsFamily(operations: readonly Operation[], kit: KitOptions): RouteFamily {
  return {
    prefix: accountsPrefix,
    register: scope => registerOperations(scope, operations, kit),
    refusePath: (_request, reply, code) => {
      reply.header('cache-control', 'no-store').header('connection', 'close')
      sendError(reply, code === 414 ? 'URI_TOO_LONG' : 'NOT_FOUND')
    },
  }
}
