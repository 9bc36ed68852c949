/** Declares the common parts of the families with problem documents: permissions, errors and their order. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorEntry } from '../http/errors.ts'
import { hasParameters } from '../http/operation.ts'
import { argumentsMax, hasTooManyArguments } from '../http/parameters.ts'
import { createFamily, type FamilyDefinition, type PublishedFamily } from '../http/route-family.ts'
import { createPathRefusal, type FamilyPermission, type GuardOptions, guard } from './guard.ts'
import { type AdminOperation, adminRules } from './operation.ts'
import { type AdminErrorCode, adminErrors, answerErrors, Problem, sendProblem } from './problem.ts'

interface ProblemFamily
  extends GuardOptions,
    Pick<FamilyDefinition<AdminOperation>, 'prefix' | 'tag' | 'groups'>,
    Partial<Pick<FamilyDefinition<AdminOperation>, 'prepare'>> {
  permission: FamilyPermission
}

export function problemFamily(definition: ProblemFamily): PublishedFamily<AdminOperation> {
  const { prefix, tag, groups, permission, prepare, log } = definition
  return createFamily<AdminOperation>({
    prefix,
    tag,
    groups,
    rules: adminRules,
    error: { schema: Problem, mediaType: 'application/problem+json' },
    refusalsOf,
    refusePath: createPathRefusal(definition, permission),
    prepare(scope) {
      guard(scope, definition, permission)
      scope.addHook('onRequest', boundArguments)
      answerErrors(scope, log)
      prepare?.(scope)
    },
  })
}

/** Operations with a body return these. */
const ofBodies: readonly AdminErrorCode[] = [
  'JSON_INVALID',
  'BODY_INVALID',
  'CROSS_SITE',
  'TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'MEDIA_TYPE_UNSUPPORTED',
]

function refusalsOf(operation: AdminOperation): ErrorEntry[] {
  const { parameters, body, refusals = [] } = operation
  const codes: AdminErrorCode[] = [
    ...(parameters?.query === undefined ? [] : (['QUERY_INVALID'] as const)),
    ...(body === undefined ? [] : ofBodies),
    ...refusals,
    'UNAUTHORIZED',
    'FORBIDDEN',
    'INTERNAL',
    'DATABASE_AWAY',
    ...(hasParameters(operation) ? (['BAD_REQUEST', 'URI_TOO_LONG'] as const) : []),
  ]
  return codes.map(code => adminErrors[code])
}

async function boundArguments({ originalUrl }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  if (!hasTooManyArguments(originalUrl)) return undefined
  const detail = `at most ${argumentsMax} arguments`
  return await sendProblem(reply.header('connection', 'close'), 'QUERY_INVALID', { detail })
}
