/** Registers the routes of the admin API. */

import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { SignUpMode } from '../../auth/accounts/sign-up.ts'
import { createLateAudit } from '../../auth/audit.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { Tenants } from '../../auth/tenants/tenants.ts'
import { addJsonBody } from '../http/request-body.ts'
import type { OperationGroup, PublishedFamily } from '../http/route-family.ts'
import { accountOperations } from './accounts.ts'
import { type BulkOptions, bulkGroups } from './bulk.ts'
import { type DecoderOptions, decoderOperations } from './decoders.ts'
import type { GuardOptions } from './guard.ts'
import { invitationOperations } from './invitations.ts'
import { keyOperations } from './keys.ts'
import type { AdminOperation } from './operation.ts'
import { problemFamily } from './problem-family.ts'
import { type RegistryOptions, registryOperations } from './registry.ts'
import { type StateOptions, stateOperations } from './state.ts'
import { tenantOperations } from './tenants.ts'

export type AdminOptions = GuardOptions & RegistryOptions & PeopleOptions & BulkOptions & StateOptions & DecoderOptions

export function adminFamily(options: AdminOptions): PublishedFamily<AdminOperation> {
  const { eraseJobs, readingsExport } = options
  return problemFamily({
    ...options,
    permission: 'admin',
    prefix: '/api/admin',
    tag: {
      name: 'admin',
      description:
        'For administrators: a session, an API key with the scope admin, or the local admin token. Lists come in pages of 100.',
    },
    groups: groupsOf(options),
    prepare(scope) {
      scope.addHook('onReady', done => {
        eraseJobs.resume()
        done()
      })
      // The export has to close before the server waits for its requests.
      scope.addHook('preClose', () => readingsExport.close())
      scope.addHook('onClose', () => eraseJobs.close())
    },
  })
}

function groupsOf(options: AdminOptions): OperationGroup<AdminOperation>[] {
  const audit = createLateAudit(options.store.postgres, options.log)
  const operations = [
    ...registryOperations(options),
    ...decoderOperations(options),
    ...peopleOperations(options),
    ...stateOperations(options, audit),
  ]
  return [{ operations, prepare: addJsonBody }, ...bulkGroups(options, audit)]
}

interface PeopleOptions {
  accounts: Accounts
  keys: Keys
  tenants: Tenants
  signUp: SignUpMode
  publicUrl: () => string
}

/** Groups the operations on permissions: accounts, invitations, keys and tenants. */
function peopleOperations(options: PeopleOptions): AdminOperation[] {
  return [
    ...accountOperations(options),
    ...invitationOperations(options),
    ...keyOperations(options),
    ...tenantOperations(options.tenants),
  ]
}
