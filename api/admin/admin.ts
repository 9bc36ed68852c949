/** The admin API: who may, what its errors look like, and which routes it has. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorEntry } from '../http/errors.ts'
import { addJsonBody } from '../http/json-body.ts'
import { hasParameters } from '../http/operation.ts'
import { argumentsMax, hasTooManyArguments } from '../http/query-limits.ts'
import { createFamily, type OperationGroup, type PublishedFamily } from '../http/register-operations.ts'
import { type BulkOptions, bulkGroups } from './bulk.ts'
import { type AdminErrorCode, adminErrors } from './errors.ts'
import { answerErrors } from './failures.ts'
import { createPathRefusal, type GuardOptions, guard } from './guard.ts'
import { createLateAudit } from './late-audit.ts'
import { type AdminOperation, adminRules } from './operation.ts'
import { type PeopleOptions, peopleOperations } from './people.ts'
import { Problem, sendProblem } from './problem.ts'
import { type RegistryOptions, registryOperations } from './registry.ts'
import { type StateOptions, stateOperations } from './state.ts'

export type AdminOptions = GuardOptions & RegistryOptions & PeopleOptions & BulkOptions & StateOptions

export function adminFamily(options: AdminOptions): PublishedFamily<AdminOperation> {
  const { eraseJobs, readingsExport, log } = options
  return createFamily<AdminOperation>({
    prefix: '/api/admin',
    tag: {
      name: 'admin',
      description:
        'For administrators: a session, an API key with the scope admin, or the local admin token. Lists come in pages of 100.',
    },
    groups: groupsOf(options),
    rules: adminRules,
    error: { schema: Problem, mediaType: 'application/problem+json' },
    refusalsOf,
    refusePath: createPathRefusal(options),
    prepare(scope) {
      guard(scope, options)
      scope.addHook('onRequest', boundArguments)
      answerErrors(scope, log)
      scope.addHook('onReady', done => {
        eraseJobs.resume()
        done()
      })
      // Before the server waits for its requests.
      scope.addHook('preClose', () => readingsExport.close())
      scope.addHook('onClose', () => eraseJobs.close())
    },
  })
}

function groupsOf(options: AdminOptions): OperationGroup<AdminOperation>[] {
  const audit = createLateAudit(options.store.postgres, options.log)
  const operations = [...registryOperations(options), ...peopleOperations(options), ...stateOperations(options, audit)]
  return [{ operations, prepare: addJsonBody }, ...bulkGroups(options, audit)]
}

/** Of every operation that has a body. */
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
