/**
 * The account service, `/v1/auth`: its operations, in the conventions of kit/. Who may do what stands in
 * auth/policy.ts; what is done, in auth/accounts/, auth/sessions/ and auth/keys/.
 */

import type { OperationFamily } from '../http/operation.ts'
import { createFamily } from '../http/register-operations.ts'
import type { RouteFamily } from '../http/route-family.ts'
import type { AccountService } from './account-service.ts'
import { apiKeyOperations } from './api-keys.ts'
import { sendError } from './kit/errors.ts'
import { type AccountOperation, accountsPrefix } from './kit/operation.ts'
import { ErrorDetail, refusalsOf, securitySchemes } from './kit/published.ts'
import { accountRules, type KitOptions, prepareScope } from './kit/register.ts'
import { lookUpOperations } from './look-ups.ts'
import { mailTokenOperations } from './mail-tokens.ts'
import { passwordAndSessionOperations, profileOperations } from './profile.ts'
import { providerSignInOperation, signInOperations } from './sign-in.ts'

export function accountOperations(service: AccountService): AccountOperation[] {
  return [
    ...signInOperations(service),
    providerSignInOperation(service),
    ...mailTokenOperations(service),
    ...profileOperations(service),
    ...passwordAndSessionOperations(service),
    ...lookUpOperations(service),
    ...apiKeyOperations(service),
  ]
}

/** A part of the operations, with a heading of its own in the contract. */
export type AccountPart = Pick<OperationFamily<AccountOperation>, 'tag' | 'operations'>

export type AccountsFamily = RouteFamily & { parts: readonly OperationFamily<AccountOperation>[] }

/** All operations below the prefix, of whichever folder they are. */
export function accountsFamily(parts: readonly [AccountPart, ...AccountPart[]], kit: KitOptions): AccountsFamily {
  const common = { prefix: accountsPrefix, error: { schema: ErrorDetail }, refusalsOf, securitySchemes }
  const family = createFamily<AccountOperation>({
    ...common,
    tag: parts[0].tag,
    groups: parts,
    rules: accountRules(kit),
    prepare: scope => prepareScope(scope, kit),
    refusePath: (_request, reply, code) => {
      reply.header('cache-control', 'no-store').header('connection', 'close')
      sendError(reply, code === 414 ? 'URI_TOO_LONG' : 'NOT_FOUND')
    },
  })
  return { ...family, parts: parts.map(part => ({ ...common, ...part })) }
}
