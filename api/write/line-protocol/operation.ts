/** Declares operations on InfluxDB paths and authenticates their requests before bodies are read. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AuthRateLimit } from '../../../auth/auth-rate-limit.ts'
import type { CredentialWriter } from '../../../auth/writers.ts'
import { bug } from '../../../store/limits/bug.ts'
import type { Operation } from '../../http/operation.ts'
import type { Rules } from '../../http/route-family.ts'
import { type CredentialsOptions, createFindLineWriter, hasCredential } from './credentials.ts'
import type { LineProtocolErrorCode, SendError } from './errors.ts'

/** With credentials, it is handled for a known writer. */
export interface LineProtocolOperation extends Operation<LineProtocolErrorCode> {
  /** Called for a request that is refused or fails. */
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

export function rulesOf(sendError: SendError, options: RulesOptions): Rules<LineProtocolOperation> {
  const authenticate = createAuthenticate(sendError, options)
  return {
    onRequest: operation => (operation.credentials === undefined ? letIn : authenticate(operation)),
    handler: operation => (request, reply) => operation.handle(request, reply, () => writerOf(request)),
    refuseMethod(_request, reply, allowed) {
      reply.header('allow', allowed.join(', ')).header('connection', 'close')
      return sendError(reply, 'METHOD_NOT_ALLOWED')
    },
  }
}

async function letIn(): Promise<undefined> {}

/** Admits writers of `findWriter` and refuses all others. */
function createAuthenticate(sendError: SendError, { writers: known, keys, authRateLimit }: RulesOptions) {
  const findWriter = createFindLineWriter({ writers: known, keys })
  const refuse = (operation: LineProtocolOperation, reply: FastifyReply, code: LineProtocolErrorCode) => {
    operation.onRefused?.(reply.request, code)
    return sendError(reply, code)
  }
  const authenticate = (operation: LineProtocolOperation) => async (request: FastifyRequest, reply: FastifyReply) => {
    // The body stays unread until the writer is known.
    reply.header('connection', 'close')
    const writer = await findWriter(request)
    if (typeof writer === 'object') {
      reply.removeHeader('connection')
      writers.set(request, writer)
      return undefined
    }
    if (writer === 'FORBIDDEN') return refuse(operation, reply, 'FORBIDDEN')
    // Some clients send a credential only after a challenge.
    const isExceeded = hasCredential(request) && authRateLimit.isExceeded(request.ip)
    return refuse(operation, reply, isExceeded ? 'TOO_MANY_ATTEMPTS' : 'UNAUTHORIZED')
  }
  return authenticate
}

/** Undefined before it was admitted. */
export function knownWriter(request: FastifyRequest): CredentialWriter | undefined {
  return writers.get(request)
}

function writerOf(request: FastifyRequest): CredentialWriter {
  const writer = knownWriter(request)
  if (writer === undefined) throw bug('an operation with credentials does not know its writer')
  return writer
}
