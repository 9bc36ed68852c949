/** Who asks: the credentials of a request, and the origins whose pages may send cookies. */

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
  /** Who is signed in, as the frame of pages shows it. */
  findVisitor: FindVisitor
  /** The page at which the pages begin for whoever is signed in. */
  findStart: FindStart
}

export interface RequestIdentityOptions {
  credentials: CredentialOptions
  /** Under which address people reach the service. */
  publicUrl: () => string
  /** Besides that of the service. */
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
      const principal = await findPrincipal(request).catch(nobodyWhileAway)
      return principal?.kind === 'session' ? visitorOf(principal.account) : null
    },
    async findStart(request) {
      const principal = await findPrincipal(request).catch(nobodyWhileAway)
      return principal?.kind === 'session' ? (principal.account.startAddress ?? undefined) : undefined
    },
  }
}

/** Pages that need no account are shown without PostgreSQL, too. */
function nobodyWhileAway(error: unknown): undefined {
  if (!isUnavailable(error) && !(error instanceof ChangeInDoubt)) throw error
}

type AdministratorCheck = (request: IncomingMessage) => Promise<boolean>

/** Nobody is one while that cannot be looked up. */
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
