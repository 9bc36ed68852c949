/** The admin API: which routes it has. */

import { addJsonBody } from '../http/json-body.ts'
import type { OperationGroup, PublishedFamily } from '../http/register-operations.ts'
import { type BulkOptions, bulkGroups } from './bulk.ts'
import type { GuardOptions } from './guard.ts'
import { createLateAudit } from './late-audit.ts'
import type { AdminOperation } from './operation.ts'
import { type PeopleOptions, peopleOperations } from './people.ts'
import { problemFamily } from './problem-family.ts'
import { type RegistryOptions, registryOperations } from './registry.ts'
import { type StateOptions, stateOperations } from './state.ts'

export type AdminOptions = GuardOptions & RegistryOptions & PeopleOptions & BulkOptions & StateOptions

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
      // Before the server waits for its requests.
      scope.addHook('preClose', () => readingsExport.close())
      scope.addHook('onClose', () => eraseJobs.close())
    },
  })
}

function groupsOf(options: AdminOptions): OperationGroup<AdminOperation>[] {
  const audit = createLateAudit(options.store.postgres, options.log)
  const operations = [...registryOperations(options), ...peopleOperations(options), ...stateOperations(options, audit)]
  return [{ operations, prepare: addJsonBody }, ...bulkGroups(options, audit)]
}
