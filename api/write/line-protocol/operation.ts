/** Declares operations of line protocol, with their credentials. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Keys } from '../../../auth/keys/keys.ts'
import type { AuthRateLimit } from '../../../auth/rate-limits.ts'
import type { CredentialWriter, NoWriter, Writers } from '../../../auth/writers.ts'
import { bug } from '../../../store/limits/bug.ts'
import { type BasicCredentials, onlyAuthorization, readBasicCredentials } from '../../http/credentials.ts'
import type { Operation } from '../../http/operation.ts'
import type { Rules } from '../../http/route-family.ts'
import type { LineProtocolErrorCode, SendError } from './errors.ts'

interface CredentialsOptions {
  writers: Writers
  keys: Pick<Keys, 'find'>
}

type FindWriter = (request: FastifyRequest) => Promise<CredentialWriter | NoWriter>

/** Longer texts are refused. */
const textLengthMax = 1024

function createFindLineWriter({ writers, keys }: CredentialsOptions): FindWriter {
  async function ofKey(text: string): ReturnType<FindWriter> {
    const find = () => keys.find(text)
    return writers.ofPrincipal(await find(), find)
  }

  return async request => {
    const given = readCredential(request)
    if (given === undefined) return 'UNAUTHENTICATED'
    if (typeof given === 'string') return await ofKey(given)
    return writers.ofDevice(given.name, given.password) ?? (await ofKey(given.password || given.name))
  }
}

/** True for any credential, valid or not. */
function hasCredential({ headers, query }: FastifyRequest): boolean {
  const { u, p } = query as Record<string, unknown>
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined || u !== undefined || p !== undefined
}

/** A token, or a name with a password. Undefined without a credential and with several. */
function readCredential(request: FastifyRequest): string | BasicCredentials | undefined {
  const { headers, query } = request
  const { u, p } = query as Record<string, unknown>
  const key = headers['x-api-key']
  const ways = [headers.authorization !== undefined, key !== undefined, u !== undefined || p !== undefined]
  if (ways.filter(Boolean).length !== 1) return undefined
  if (key !== undefined) return isText(key) ? key : undefined
  if (headers.authorization === undefined) {
    return isText(p) && (u === undefined || isText(u)) ? { name: u ?? '', password: p } : undefined
  }
  return readAuthorization(request)
}

function readAuthorization({ raw }: FastifyRequest): string | BasicCredentials | undefined {
  const header = onlyAuthorization(raw.rawHeaders)
  if (header === undefined || header.length > textLengthMax) return undefined
  const space = header.indexOf(' ')
  const scheme = header.slice(0, Math.max(0, space)).toLowerCase()
  if (scheme !== 'token' && scheme !== 'bearer') return readBasicCredentials(raw.rawHeaders)
  const token = header.slice(space + 1).trim()
  // For servers of version 1, clients of version 2 send a name and a password as the token.
  const colon = token.indexOf(':')
  return colon === -1 ? token : { name: token.slice(0, colon), password: token.slice(colon + 1) }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= textLengthMax
}

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

interface RulesOptions extends CredentialsOptions {
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
