/** Who may read: everybody, or with READS=private only who has a session, an API key or the credential of a device. */

import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { subjectOf } from '../../auth/accounts/account.ts'
import type { AuthRateLimit } from '../../auth/auth-rate-limit.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { authorize, type Principal, readScopeOf } from '../../auth/policy.ts'
import { ChangeInDoubt } from '../../auth/record-cache.ts'
import { bug } from '../../store/limits/bug.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import type { FindPrincipal } from '../credentials/find-principal.ts'
import { readBasicCredentials } from '../http/basic-credentials.ts'
import { letAnyOriginRead } from '../http/cors.ts'
import type { Scope } from '../http/scope.ts'
import type { LoggerErrorCode } from '../http/status-errors.ts'
import { refuse } from './read-answers.ts'
import { deviceReader, everybody, type ReadableDevices, type Reader, scopedReader } from './readers.ts'
import { viewReader } from './view-reader.ts'

export interface ReadAccess {
  readonly isOpen: boolean
  /** Requires credentials for all reads of a scope, also for those whose answer is in memory. */
  guard(scope: Scope): void
  /** Who has sent a request that the guard has let in. */
  readerOf(request: FastifyRequest): Reader
  /** Whether the guard would let the request in again; also while that cannot be found out. */
  isAllowed(request: FastifyRequest): Promise<boolean>
  /** Whose shares the request counts towards: an account, a device; undefined where reads are open to everybody. */
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

  /** Two credentials at once are nobody's. */
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
    // All sessions and keys of an account share what it has.
    const credential = 'account' in principal ? subjectOf(principal.account.id) : principal.kind
    const isOfAll = scope.owner === undefined && scope.tags === undefined
    return { reader: isOfAll ? ofAll : scopedReader(devices, scope), credential }
  }

  async function check(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    // A preflight brings no credentials, and what writes has a check of its own.
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

  /** Without a credential nothing has failed. */
  function unauthenticated(request: FastifyRequest, reply: FastifyReply): LoggerErrorCode {
    const isGuess = request.headers.authorization !== undefined || request.headers['x-api-key'] !== undefined
    if (isGuess && authRateLimit.isExceeded(request.ip)) return 'TOO_MANY_ATTEMPTS'
    // To Basic a browser opens a dialog of its own, also for a request of a page.
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

/** No cache gives the answer of one reader to another, not even that of a browser in which one signs in after the other. */
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
