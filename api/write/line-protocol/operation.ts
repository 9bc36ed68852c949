/** An operation on a path of InfluxDB, and who is let in before anything of its body is read. */

import assert from 'node:assert/strict'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CredentialWriter } from '../../../auth/writers.ts'
import type { AuthRateLimit } from '../../http/auth-rate-limit.ts'
import type { Operation } from '../../http/operation.ts'
import type { Rules } from '../../http/register-operations.ts'
import { type CredentialsOptions, createFindWriter, hasCredential } from './credentials.ts'
import { type LineProtocolErrorCode, sendError, type Version } from './errors.ts'

/** With credentials, it is handled for a writer that is known. */
export interface LineProtocolOperation extends Operation<LineProtocolErrorCode> {
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
    onRequest: ({ credentials }) => (credentials === undefined ? letIn : authenticate),
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
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    // Until it is known who asks, the body stays unread.
    reply.header('connection', 'close')
    const writer = await findWriter(request)
    if (typeof writer === 'object') {
      reply.removeHeader('connection')
      writers.set(request, writer)
      return undefined
    }
    if (writer === 'FORBIDDEN') return sendError(reply, version, 'FORBIDDEN')
    // Some clients send a credential only when they have been asked for one.
    const isExceeded = hasCredential(request) && authRateLimit.isExceeded(request.ip)
    return sendError(reply, version, isExceeded ? 'TOO_MANY_ATTEMPTS' : 'UNAUTHORIZED')
  }
}

function writerOf(request: FastifyRequest): CredentialWriter {
  const writer = writers.get(request)
  assert(writer !== undefined, 'an operation with credentials knows its writer')
  return writer
}
