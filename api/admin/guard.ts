/**
 * Admits requests to families with problem documents and names the principal, which the routes write into the audit.
 */

import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { authorize, type Permission, type Principal } from '../../auth/policy.ts'
import { bug } from '../../store/limits/bug.ts'
import type { Log } from '../../store/log.ts'
import type { FindPrincipal } from '../credentials/find-principal.ts'
import type { Origins } from '../credentials/origins.ts'
import type { RouteFamily, Scope } from '../http/route-family.ts'
import { sendFailure, sendProblem } from './problem.ts'

/** Permission for a whole family of operations. */
export type FamilyPermission = Extract<Permission, 'admin' | 'alerts' | 'annotations'>

export interface GuardOptions {
  findPrincipal: FindPrincipal
  origins: Pick<Origins, 'isCrossSite'>
  log: Log
}

const requesters = new WeakMap<IncomingMessage, Principal>()

export function requesterOf({ raw }: FastifyRequest): Principal {
  const requester = requesters.get(raw)
  if (requester === undefined) throw bug('the guard has let in an unknown caller')
  return requester
}

/** The check precedes all others, the path included: a refused client learns nothing. */
export function guard(scope: Scope, options: GuardOptions, permission: FamilyPermission = 'admin'): void {
  scope.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store')
    const refusal = await refusalOf(request, reply, options, permission)
    return refusal && refuse(reply, refusal, permission)
  })
}

/** Paths below the prefix that the router cannot decode reach no route and no hook. */
export function createPathRefusal(
  options: GuardOptions,
  permission: FamilyPermission = 'admin',
): NonNullable<RouteFamily['refusePath']> {
  return (request, reply, code) => {
    reply.header('cache-control', 'no-store')
    refusalOf(request, reply, options, permission).then(
      refusal => {
        if (refusal !== undefined) refuse(reply, refusal, permission)
        else sendProblem(reply, code === 414 ? 'URI_TOO_LONG' : 'BAD_REQUEST')
      },
      (error: unknown) => sendFailure(reply, error, options.log),
    )
  }
}

type GuardRefusal = 'UNAUTHORIZED' | 'FORBIDDEN' | 'CROSS_SITE'

const safeMethods = new Set(['GET', 'HEAD'])

/** Undefined if the policy admits the request. */
async function refusalOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { findPrincipal, origins }: GuardOptions,
  permission: FamilyPermission,
): Promise<GuardRefusal | undefined> {
  // The body stays unread until the principal is known.
  reply.header('connection', 'close')
  const principal = await findPrincipal(request.raw)
  const decision = authorize(permission, principal)
  if (principal === undefined || decision === 'UNAUTHENTICATED') return 'UNAUTHORIZED'
  if (decision !== 'allowed') return decision
  if (principal.kind === 'session' && !safeMethods.has(request.method) && origins.isCrossSite(request)) {
    return 'CROSS_SITE'
  }
  reply.removeHeader('connection')
  requesters.set(request.raw, principal)
  return undefined
}

const token =
  'send one credential: "Authorization: Bearer" with the token from secrets/admin-token in the data directory or with ' +
  'an API key'
const crossSite = 'a page of another site may not change anything'

const details: Record<FamilyPermission, Record<GuardRefusal, string>> = {
  admin: {
    UNAUTHORIZED: `${token}, or the session cookie of an administrator`,
    FORBIDDEN: 'this needs the role administrator; an API key also needs the scope admin',
    CROSS_SITE: crossSite,
  },
  alerts: {
    UNAUTHORIZED: `${token}, or a session cookie`,
    FORBIDDEN: 'an API key needs the scope alerts for this',
    CROSS_SITE: crossSite,
  },
  annotations: {
    UNAUTHORIZED: `${token}, or a session cookie`,
    FORBIDDEN: 'an API key needs the scope ingest for this',
    CROSS_SITE: crossSite,
  },
}

function refuse(reply: FastifyReply, code: GuardRefusal, permission: FamilyPermission): FastifyReply {
  return sendProblem(reply, code, { detail: details[permission][code] })
}
