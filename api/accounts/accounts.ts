/**
 * Declares the operations of the account service, `/v1/auth`, with the conventions of kit/. auth/policy.ts holds the
 * permissions; auth/accounts/, auth/sessions/ and auth/keys/ carry operations out.
 */

import type { Account } from '../../auth/accounts/account.ts'
import { mayRead, type Principal } from '../../auth/policy.ts'
import { createFamily, type OperationGroup, type PublishedFamily } from '../http/route-family.ts'
import type { AccountService } from './account-service.ts'
import { apiKeyOperations } from './api-keys.ts'
import {
  type DeviceAuthorizationService,
  deviceAuthorizationOperations,
} from './device-authorization/device-authorization.ts'
import { type DriveService, driveOperations } from './drive/drive.ts'
import { sendError } from './kit/errors.ts'
import {
  type AccountOperation,
  type Answer,
  accountsPrefix,
  ErrorDetail,
  operation,
  refusalsOf,
  securitySchemes,
} from './kit/operation.ts'
import { accountRules, type KitOptions, prepareScope } from './kit/register.ts'
import { mailTokenOperations } from './mail-tokens.ts'
import { passwordAndSessionOperations, preferencesOperations, profileOperations } from './profile.ts'
import { EmailPath, UserPath, UserResponse, userResponse } from './schemas.ts'
import { providerSignInOperation, signInOperations, type TenantService, tenantOperations } from './sign-in.ts'
import { sharedViewOperation, viewLinkOperations } from './view-links.ts'
import { viewOperations } from './views.ts'

export type AccountServices = AccountService & DeviceAuthorizationService & DriveService & TenantService

export function accountGroups(service: AccountServices): OperationGroup<AccountOperation>[] {
  return [
    {
      operations: [
        ...signInOperations(service),
        providerSignInOperation(service),
        ...mailTokenOperations(service),
        ...profileOperations(service),
        ...preferencesOperations(service),
        ...viewOperations(service),
        ...viewLinkOperations(service),
        sharedViewOperation(service),
        ...passwordAndSessionOperations(service),
        ...lookUpOperations(service),
        ...apiKeyOperations(service),
      ],
    },
    {
      tag: {
        name: 'device authorization',
        description: 'An API key for a program that has no browser: it shows a code, and a person approves it.',
      },
      operations: deviceAuthorizationOperations(service),
    },
    {
      tag: { name: 'drive', description: 'The consent of a person to an external file storage.' },
      operations: driveOperations(service),
    },
    {
      tag: { name: 'tenants', description: 'Sessions for the users of partners.' },
      operations: tenantOperations(service),
    },
  ]
}

export type AccountsFamily = PublishedFamily<AccountOperation>

export function accountsFamily(groups: readonly OperationGroup<AccountOperation>[], kit: KitOptions): AccountsFamily {
  return createFamily<AccountOperation>({
    prefix: accountsPrefix,
    tag: { name: 'accounts', description: 'Accounts, sessions and API keys.' },
    groups,
    rules: accountRules(kit),
    error: { schema: ErrorDetail },
    refusalsOf,
    securitySchemes,
    prepare: scope => prepareScope(scope, kit),
    refusePath: (_request, reply, code) => {
      reply.header('cache-control', 'no-store').header('connection', 'close')
      sendError(reply, code === 414 ? 'URI_TOO_LONG' : 'NOT_FOUND')
    },
  })
}

const idMax = 2_147_483_647
const lengthMax = 254

/** The front end may look up any user, an account only itself. */
function lookUpOperations({ accounts }: AccountService): AccountOperation[] {
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

/** An account without permission gets the same answer as for a missing account. */
function answerOf(principal: Principal | undefined, account: Account | undefined): Answer {
  if (principal === undefined || !mayRead(principal, account?.id)) return { ok: false, code: 'FORBIDDEN' }
  return account === undefined ? { ok: false, code: 'ACCOUNT_UNKNOWN' } : { ok: true, value: userResponse(account) }
}
