/** Declares the operations of the admin API and orders the checks of a request: query, body, path. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { actorOf } from '../../auth/audit.ts'
import type { Principal } from '../../auth/policy.ts'
import { bug } from '../../store/limits/bug.ts'
import { type Checked, checkBody, checkPart, type Operation } from '../http/operation.ts'
import type { Rules } from '../http/route-family.ts'
import { requesterOf } from './guard.ts'
import { type AdminErrorCode, sendInvalid, sendProblem } from './problem.ts'

export interface OperationInput<Path = unknown, Query = unknown, Body = unknown> {
  path: Path
  query: Query
  body: Body
  /** The guard has admitted the principal. */
  principal: Principal
  /** The principal's name for the audit. */
  actor: string
  request: FastifyRequest
}

/** Wrapped in an object, because an async function would await the reply until it is sent. */
interface PreconditionRefusal {
  readonly code: AdminErrorCode
  readonly detail?: string
}

export interface AdminOperation<Path = unknown, Query = unknown, Body = unknown>
  extends Operation<AdminErrorCode, Path, Query, Body> {
  /** The operation requires the local admin token. */
  isTokenOnly?: boolean
  /** Refuses a request before its query and body are checked. */
  precondition?(request: FastifyRequest): Promise<PreconditionRefusal | undefined>
  /** Returned for a path that is invalid by its form. */
  pathError?: AdminErrorCode
  handle(asked: OperationInput<Path, Query, Body>, reply: FastifyReply): FastifyReply | Promise<FastifyReply>
}

const credentials = ['session', 'apiKey', 'bearerKey', 'adminToken']

/** Keeps the types of one operation together. The code that runs operations does not know them. */
export function operation<Path = undefined, Query = undefined, Body = undefined>(
  declared: AdminOperation<Path, Query, Body>,
): AdminOperation {
  return { credentials, ...declared } as AdminOperation
}

export const adminRules: Rules<AdminOperation> = {
  handler: operation => (request, reply) => answer(operation, request, reply),
  refuseMethod(_request, reply, allowed) {
    reply.header('allow', allowed.join(', ')).header('connection', 'close')
    return sendProblem(reply, 'METHOD_NOT_ALLOWED')
  },
}

async function answer(operation: AdminOperation, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { parameters = {}, body: declaredBody, pathError } = operation
  const principal = requesterOf(request)
  if (operation.isTokenOnly === true && principal.kind !== 'admin-token') {
    return sendProblem(reply, 'FORBIDDEN', { detail: 'only with the token from secrets/admin-token' })
  }
  const refusal = await operation.precondition?.(request)
  if (refusal !== undefined) return sendProblem(reply, refusal.code, { detail: refusal.detail })
  const query = checkPart(parameters.query, request.query)
  if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
  const body: Checked<unknown> = await checkBody(declaredBody, request.body)
  if (!body.success) return sendInvalid(reply, 'BODY_INVALID', body.error)
  const path = checkPart(parameters.path, request.params)
  if (!path.success) {
    if (pathError === undefined) throw bug(`the path ${operation.path} has a form, and no error for another one`)
    return sendProblem(reply, pathError)
  }
  const asked = { path: path.data, query: query.data, body: body.data, principal, actor: actorOf(principal), request }
  return await operation.handle(asked, reply)
}
