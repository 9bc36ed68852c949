/**
 * The account service, `/v1/auth`: its operations, in the conventions of kit/. Who may do what stands in
 * auth/policy.ts; what is done, in auth/accounts/, auth/sessions/ and auth/keys/.
 */

import { createFamily, type OperationGroup, type PublishedFamily } from '../http/register-operations.ts'
import type { AccountService } from './account-service.ts'
import { apiKeyOperations } from './api-keys.ts'
import {
  type DeviceAuthorizationService,
  deviceAuthorizationOperations,
} from './device-authorization/device-authorization.ts'
import { type DriveService, driveOperations } from './drive/drive.ts'
import { sendError } from './kit/errors.ts'
import { type AccountOperation, accountsPrefix } from './kit/operation.ts'
import { ErrorDetail, refusalsOf, securitySchemes } from './kit/published.ts'
import { accountRules, type KitOptions, prepareScope } from './kit/register.ts'
import { lookUpOperations } from './look-ups.ts'
import { mailTokenOperations } from './mail-tokens.ts'
import { preferencesOperations } from './preferences.ts'
import { passwordAndSessionOperations, profileOperations } from './profile.ts'
import { providerSignInOperation, signInOperations } from './sign-in.ts'
import { type TenantService, tenantOperations } from './tenants/tenant-exchange.ts'
import { sharedViewOperation, viewLinkOperations } from './view-links.ts'
import { viewOperations } from './views.ts'

/** What all operations below the prefix are made of. */
export type AccountServices = AccountService & DeviceAuthorizationService & DriveService & TenantService

/** All operations below the prefix, of whichever folder they are. */
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
