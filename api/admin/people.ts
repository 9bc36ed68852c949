/** Operations on who may do what: accounts, invitations, keys and tenants. */

import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { SignUpMode } from '../../auth/accounts/sign-up.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { Tenants } from '../../auth/tenants/tenants.ts'
import { accountOperations } from './accounts.ts'
import { invitationOperations } from './invitations.ts'
import { keyOperations } from './keys.ts'
import type { AdminOperation } from './operation.ts'
import { tenantOperations } from './tenants.ts'

export interface PeopleOptions {
  accounts: Accounts
  keys: Keys
  tenants: Tenants
  /** Who may make an account. */
  signUp: SignUpMode
  publicUrl: () => string
}

export function peopleOperations(options: PeopleOptions): AdminOperation[] {
  return [
    ...accountOperations(options),
    ...invitationOperations(options),
    ...keyOperations(options),
    ...tenantOperations(options.tenants),
  ]
}
