/** Who asks: the credentials of a request, and the origins whose pages may send cookies. */

import type { IncomingMessage } from 'node:http'
import { type CredentialOptions, createFindPrincipal, type FindPrincipal } from '../api/credentials/find-principal.ts'
import { createOrigins, type Origins } from '../api/credentials/origins.ts'
import { visitorOf } from '../api/credentials/visitor.ts'
import type { Visitor } from '../api/http/page-document.ts'
import { type AdministratorCheck, createAdministratorCheck } from './administrator-check.ts'

export interface RequestIdentity {
  origins: Origins
  findPrincipal: FindPrincipal
  isAdministrator: AdministratorCheck
  /** Who is signed in, as the frame of pages shows it. */
  findVisitor: (request: IncomingMessage) => Promise<Visitor | null>
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
      const principal = await findPrincipal(request)
      return principal?.kind === 'session' ? visitorOf(principal.account) : null
    },
  }
}
