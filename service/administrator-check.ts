/** Whether an administrator asks. */

import type { IncomingMessage } from 'node:http'
import type { FindPrincipal } from '../api/credentials/find-principal.ts'
import { authorize } from '../auth/policy.ts'
import { ChangeInDoubt } from '../auth/record-cache.ts'
import { isUnavailable } from '../store/postgres/postgres-errors.ts'

export type AdministratorCheck = (request: IncomingMessage) => Promise<boolean>

/** Nobody is one while that cannot be looked up. */
export function createAdministratorCheck(findPrincipal: FindPrincipal): AdministratorCheck {
  return async request => {
    try {
      return authorize('admin', await findPrincipal(request)) === 'allowed'
    } catch (error) {
      if (isUnavailable(error) || error instanceof ChangeInDoubt) return false
      throw error
    }
  }
}
