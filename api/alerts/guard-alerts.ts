/** Whose alerts somebody sees and changes. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Owner } from '../../alerts/core/outcome.ts'
import { type Principal, readScopeOf } from '../../auth/policy.ts'
import { requesterOf } from '../admin/guard.ts'
import { sendProblem } from '../admin/problem.ts'
import type { Scope } from '../http/scope.ts'

/** Administrators and the admin token see all; undefined before the address of an account is confirmed. */
export function ownerOf(principal: Principal): Owner | undefined {
  if (!('account' in principal)) return { all: true, account: null }
  const { id, role } = principal.account
  if (readScopeOf(principal) === 'EMAIL_UNVERIFIED') return undefined
  return { all: role !== 'user', account: id }
}

/** Behind the guard of the family. */
export function refuseUnverified(scope: Scope): void {
  scope.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    if (ownerOf(requesterOf(request)) !== undefined) return undefined
    const detail = 'alerts need an e-mail address that is verified'
    return await sendProblem(reply.header('connection', 'close'), 'FORBIDDEN', { detail })
  })
}
