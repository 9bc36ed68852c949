/** Identifies the principal of a request, and the origins whose pages may send cookies. */

import type { IncomingMessage } from 'node:http'
import { type CredentialOptions, createFindPrincipal, type FindPrincipal } from '../api/credentials/find-principal.ts'
import { createOrigins, type Origins } from '../api/credentials/origins.ts'
import { visitorOf } from '../api/credentials/visitor.ts'
import type { FindVisitor } from '../api/http/page-document.ts'
import type { FindStart } from '../api/web/start-page.ts'
import { authorize } from '../auth/policy.ts'
import { ChangeInDoubt } from '../auth/record-cache.ts'
import { isUnavailable } from '../store/postgres/postgres-errors.ts'

export interface RequestIdentity {
  origins: Origins
  findPrincipal: FindPrincipal
  isAdministrator: AdministratorCheck
  /** Finds the signed-in account for the frame of pages. */
  findVisitor: FindVisitor
  /** Finds the start page of the signed-in account. */
  findStart: FindStart
}

export interface RequestIdentityOptions {
  credentials: CredentialOptions
  /** Public address of the service. */
  publicUrl: () => string
  /** Origins besides the service's own. */
  allowedOrigins: readonly string[]
}

export function createRequestIdentity(options: RequestIdentityOptions): RequestIdentity {
  const { credentials, publicUrl, allowedOrigins } = options
  const findPrincipal = createFindPrincipal(credentials)
  return {
    origins: createOrigins(() => [new URL(publicUrl()).origin, ...allowedOrigins]),
    findPrincipal,
    isAdministrator: createAdministratorCheck(findPrincipal),
    async findVisitor(request) {
      const principal = await findPrincipal(request).catch(undefinedWhileUnavailable)
      return principal?.kind === 'session' ? visitorOf(principal.account) : null
    },
    async findStart(request) {
      const principal = await findPrincipal(request).catch(undefinedWhileUnavailable)
      return principal?.kind === 'session' ? (principal.account.startAddress ?? undefined) : undefined
    },
  }
}

/** Pages without required sign-in are shown without PostgreSQL, too. */
function undefinedWhileUnavailable(error: unknown): undefined {
  if (!isUnavailable(error) && !(error instanceof ChangeInDoubt)) throw error
}

type AdministratorCheck = (request: IncomingMessage) => Promise<boolean>

/** While PostgreSQL is unavailable, requests count as non-administrators. */
function createAdministratorCheck(findPrincipal: FindPrincipal): AdministratorCheck {
  return async request => {
    try {
      return authorize('admin', await findPrincipal(request)) === 'allowed'
    } catch (error) {
      if (isUnavailable(error) || error instanceof ChangeInDoubt) return false
      throw error
    }
  }
}
