/**
 * Decides who may read: everybody, or with READS=private the holders of a session, an API key or a device's credential.
 */

import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { subjectOf } from '../../auth/accounts/account.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { authorize, type Principal, readScopeOf } from '../../auth/policy.ts'
import type { AuthRateLimit } from '../../auth/rate-limits.ts'
import { ChangeInDoubt } from '../../auth/record-cache.ts'
import type { Answer } from '../../query/cache/body.ts'
import type { Query } from '../../query/query.ts'
import { bug } from '../../store/limits/bug.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import type { FindPrincipal } from '../credentials/find-principal.ts'
import { readBasicCredentials } from '../http/credentials.ts'
import { letAnyOriginRead } from '../http/response-headers.ts'
import type { Scope } from '../http/route-family.ts'
import { sendBody } from '../http/send-body.ts'
import { type LoggerErrorCode, sendError } from '../http/status-operations.ts'
import { deviceReader, everybody, type ReadableDevices, type Reader, scopedReader } from './readers.ts'
import { viewReader } from './view-reader.ts'

export interface ReadAccess {
  readonly isOpen: boolean
  /** Requires credentials for all reads of a scope, including answers from memory. */
  guard(scope: Scope): void
  readerOf(request: FastifyRequest): Reader
  /** True if the guard would admit the request again, or cannot find out at the moment. */
  isAllowed(request: FastifyRequest): Promise<boolean>
  /** Account or device whose limits the request counts towards; undefined with open reads. */
  credentialOf(request: FastifyRequest): string | undefined
}

interface KnownReader {
  reader: Reader
  credential: string
}

export function openReads(devices: ReadableDevices): ReadAccess {
  const reader = everybody(devices)
  return {
    isOpen: true,
    guard: () => undefined,
    readerOf: () => reader,
    isAllowed: async () => true,
    credentialOf: () => undefined,
  }
}

export interface PrivateReadsOptions {
  findPrincipal: FindPrincipal
  devices: ReadableDevices & Pick<Devices, 'authenticate'>
  authRateLimit: AuthRateLimit
}

export function privateReads({ findPrincipal, devices, authRateLimit }: PrivateReadsOptions): ReadAccess {
  const readers = new WeakMap<IncomingMessage, KnownReader>()
  const ofAll = everybody(devices)

  /** Two credentials are refused. */
  async function find({ raw }: FastifyRequest): Promise<KnownReader | LoggerErrorCode> {
    const credentials = readBasicCredentials(raw.rawHeaders)
    if (credentials === undefined) return readerFor(await findPrincipal(raw))
    const isOnly = raw.headers['x-api-key'] === undefined
    const device = isOnly ? devices.authenticate(credentials.name, credentials.password) : undefined
    if (device === undefined) return 'UNAUTHORIZED'
    return { reader: deviceReader(devices, device), credential: `device ${device.number}` }
  }

  function readerFor(principal: Principal | undefined): KnownReader | LoggerErrorCode {
    const decision = authorize('readings.read', principal)
    if (principal === undefined || decision === 'UNAUTHENTICATED') return 'UNAUTHORIZED'
    if (decision !== 'allowed') return decision
    const scope = readScopeOf(principal)
    if (scope === 'EMAIL_UNVERIFIED') return scope
    if (principal.kind === 'view-link') {
      return { reader: viewReader(devices, scope, principal.link), credential: `view link ${principal.link.id}` }
    }
    // All sessions and keys of an account share its limits.
    const credential = 'account' in principal ? subjectOf(principal.account.id) : principal.kind
    const isOfAll = scope.owner === undefined && scope.tags === undefined
    return { reader: isOfAll ? ofAll : scopedReader(devices, scope), credential }
  }

  async function check(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    // A preflight has no credentials, and writes have their own check.
    if (!isRead(request)) return undefined
    const found = await find(request).catch((error: unknown) => {
      if (isUnavailable(error) || error instanceof ChangeInDoubt) return 'DATABASE_AWAY' as const
      throw error
    })
    if (typeof found !== 'string') {
      readers.set(request.raw, found)
      return undefined
    }
    letAnyOriginRead(reply)
    return refuse(reply, found === 'UNAUTHORIZED' ? unauthenticated(request, reply) : found)
  }

  /** A missing credential is not a failed attempt. */
  function unauthenticated(request: FastifyRequest, reply: FastifyReply): LoggerErrorCode {
    const isGuess = request.headers.authorization !== undefined || request.headers['x-api-key'] !== undefined
    if (isGuess && authRateLimit.isExceeded(request.ip)) return 'TOO_MANY_ATTEMPTS'
    // For Basic, a browser would open its own dialog, also for a page's request.
    reply.header('www-authenticate', 'Bearer realm="logger"')
    return 'UNAUTHORIZED'
  }

  function knownIn({ raw }: FastifyRequest): KnownReader {
    const known = readers.get(raw)
    if (known === undefined) throw bug('the guard has let in an unknown caller')
    return known
  }

  return {
    isOpen: false,
    guard(scope) {
      scope.addHook('onRequest', check)
      markReadsAsPrivate(scope)
    },
    readerOf: request => knownIn(request).reader,
    isAllowed: async request => typeof (await find(request).catch(() => undefined)) !== 'string',
    credentialOf: request => knownIn(request).credential,
  }
}

function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** No cache may give one reader's answer to another, including a browser after a change of account. */
export function markReadsAsPrivate(scope: Scope): void {
  scope.addHook('onSend', (request, reply, _payload, done) => {
    if (isRead(request)) markAsPrivate(reply)
    done()
  })
}

function markAsPrivate(reply: FastifyReply): void {
  const directives = listed(reply.getHeader('cache-control')).filter(one => one !== 'public' && one !== 'private')
  reply.header('cache-control', ['private', ...directives].join(', '))
  reply.header('vary', [...listed(reply.getHeader('vary')), 'authorization', 'cookie', 'x-api-key'].join(', '))
}

function listed(header: unknown): string[] {
  const items = String(header ?? '').split(',')
  return items.map(item => item.trim()).filter(item => item !== '')
}

export type Sent = FastifyReply | Promise<FastifyReply>

/** Answers a read of the logger API with a body or a refusal. */
export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer | Promise<Answer>,
  coded: Query['coded'],
  tooLarge: LoggerErrorCode = 'TOO_LARGE',
): Sent {
  // A body from memory is sent within this turn: a resolved promise would cost more than the rest.
  if (answer instanceof Promise) return answer.then(made => sendAnswer(request, reply, made, coded, tooLarge))
  if (answer.ok) return sendBody(request, reply, answer.body, answer.maxAgeSeconds, coded)
  return refuse(reply, answer.code === 'TOO_LARGE' ? tooLarge : answer.code)
}

/** `text` is the error of a parameter. */
export function refuse(reply: FastifyReply, code: LoggerErrorCode, text?: string): FastifyReply {
  reply.header('cache-control', 'no-store').header('vary', 'accept-encoding')
  const detail = code === 'DATABASE_AWAY' ? reply.server.databaseFault?.() : undefined
  return sendError(reply, code, {
    ...(text === undefined ? {} : { status: text }),
    ...(detail === undefined ? {} : { detail }),
  })
}
