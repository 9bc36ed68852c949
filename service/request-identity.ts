/** Who asks: the credentials of a request, and the origins whose pages may send cookies. */

import { type CredentialOptions, createFindPrincipal, type FindPrincipal } from '../api/credentials/find-principal.ts'
import { createOrigins, type Origins } from '../api/credentials/origins.ts'
import { type AdministratorCheck, createAdministratorCheck } from './administrator-check.ts'

export interface RequestIdentity {
  origins: Origins
  findPrincipal: FindPrincipal
  isAdministrator: AdministratorCheck
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
  }
}
