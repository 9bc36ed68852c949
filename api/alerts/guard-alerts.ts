/** Decides which alerts a principal sees and changes. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Owner } from '../../alerts/core/outcome.ts'
import { createScopeCheck, type ScopedDevice } from '../../auth/devices/device-scope.ts'
import { type Principal, readScopeOf } from '../../auth/policy.ts'
import { requesterOf } from '../admin/guard.ts'
import { sendProblem } from '../admin/problem.ts'
import type { Scope } from '../http/route-family.ts'

/**
 * Administrators and the admin token see all. Undefined before the address of an account is confirmed, and for a key
 * that is limited to devices with tags: rules belong to an account, for any of its devices.
 */
export function ownerOf(principal: Principal): Owner | undefined {
  if (principal.kind === 'view-link') return undefined
  if (!('account' in principal)) return { all: true, account: null }
  const { id, role } = principal.account
  const scope = readScopeOf(principal)
  if (scope === 'EMAIL_UNVERIFIED' || scope.tags !== undefined) return undefined
  return { all: role !== 'user', account: id }
}

/** A principal may read a device that its own rules may cover. */
export function mayRead(principal: Principal, device: ScopedDevice): boolean {
  const scope = readScopeOf(principal)
  return scope !== 'EMAIL_UNVERIFIED' && createScopeCheck(scope)(device)
}

/** Runs behind the guard of the family. */
export function refuseOthers(scope: Scope): void {
  scope.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    if (ownerOf(requesterOf(request)) !== undefined) return undefined
    const detail = 'alerts need an e-mail address that is verified, and a key without tags'
    return await sendProblem(reply.header('connection', 'close'), 'FORBIDDEN', { detail })
  })
}
