/** A scope of the admin API alone, in which every request is the local administrator's. */

import type { FastifyInstance } from 'fastify'
import { guard } from '../../api/admin/guard.ts'
import { type AdminOperation, adminRules } from '../../api/admin/operation.ts'
import type { FindPrincipal } from '../../api/credentials/find-principal.ts'
import { type OperationGroup, registerGroup } from '../../api/http/route-family.ts'
import { silentLog } from './databases.ts'

export const everybody: FindPrincipal = async () => ({ kind: 'admin-token' })

export function serveEverybody(scope: FastifyInstance, group: OperationGroup<AdminOperation>): void {
  guard(scope, { findPrincipal: everybody, origins: { isCrossSite: () => false }, log: silentLog })
  registerGroup(scope, group, adminRules)
}
