/** An operation on a path of InfluxDB, and who is let in before anything of its body is read. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AuthRateLimit } from '../../../auth/auth-rate-limit.ts'
import type { CredentialWriter } from '../../../auth/writers.ts'
import { bug } from '../../../store/limits/bug.ts'
import type { Operation } from '../../http/operation.ts'
import type { Rules } from '../../http/register-operations.ts'
import { type CredentialsOptions, createFindWriter, hasCredential } from './credentials.ts'
import { type LineProtocolErrorCode, sendError, type Version } from './errors.ts'

/** With credentials, it is handled for a writer that is known. */
export interface LineProtocolOperation extends Operation<LineProtocolErrorCode> {
  /** Told of a request that is not let in, or that fails. */
  onRefused?(request: FastifyRequest, code: LineProtocolErrorCode): void
  handle(
    request: FastifyRequest,
    reply: FastifyReply,
    writer: () => CredentialWriter,
  ): Promise<FastifyReply> | FastifyReply
}

export interface RulesOptions extends CredentialsOptions {
  authRateLimit: AuthRateLimit
}

const writers = new WeakMap<FastifyRequest, CredentialWriter>()

export function rulesOf(version: Version, options: RulesOptions): Rules<LineProtocolOperation> {
  const authenticate = createAuthenticate(version, options)
  return {
    onRequest: operation => (operation.credentials === undefined ? letIn : authenticate(operation)),
    handler: operation => (request, reply) => operation.handle(request, reply, () => writerOf(request)),
    refuseMethod(_request, reply, allowed) {
      reply.header('allow', allowed.join(', ')).header('connection', 'close')
      return sendError(reply, version, 'METHOD_NOT_ALLOWED')
    },
  }
}

async function letIn(): Promise<undefined> {}

/** Lets in whom `findWriter` knows, and answers everybody else. */
function createAuthenticate(version: Version, { writers: known, keys, authRateLimit }: RulesOptions) {
  const findWriter = createFindWriter({ writers: known, keys })
  const refuse = (operation: LineProtocolOperation, reply: FastifyReply, code: LineProtocolErrorCode) => {
    operation.onRefused?.(reply.request, code)
    return sendError(reply, version, code)
  }
  const authenticate = (operation: LineProtocolOperation) => async (request: FastifyRequest, reply: FastifyReply) => {
    // Until it is known who asks, the body stays unread.
    reply.header('connection', 'close')
    const writer = await findWriter(request)
    if (typeof writer === 'object') {
      reply.removeHeader('connection')
      writers.set(request, writer)
      return undefined
    }
    if (writer === 'FORBIDDEN') return refuse(operation, reply, 'FORBIDDEN')
    // Some clients send a credential only when they have been asked for one.
    const isExceeded = hasCredential(request) && authRateLimit.isExceeded(request.ip)
    return refuse(operation, reply, isExceeded ? 'TOO_MANY_ATTEMPTS' : 'UNAUTHORIZED')
  }
  return authenticate
}

/** Undefined before it has been let in. */
export function knownWriter(request: FastifyRequest): CredentialWriter | undefined {
  return writers.get(request)
}

function writerOf(request: FastifyRequest): CredentialWriter {
  const writer = knownWriter(request)
  if (writer === undefined) throw bug('an operation with credentials does not know its writer')
  return writer
}
