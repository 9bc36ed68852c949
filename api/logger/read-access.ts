/** Who may read: everybody, or with READS=private only who has a session, an API key or the credential of the device. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Devices } from '../../auth/devices/devices.ts'
import { type Judgement, judge } from '../../auth/policy.ts'
import { ChangeInDoubt } from '../../auth/record-cache.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import type { FindPrincipal } from '../accounts/kit/credentials.ts'
import type { AuthRateLimit } from '../http/auth-rate-limit.ts'
import { readBasicCredentials } from '../http/basic-credentials.ts'
import { letAnyOriginRead } from '../http/cors.ts'
import type { LoggerErrorCode } from './errors.ts'
import { refuse } from './read-answers.ts'

export interface ReadAccessOptions {
  findPrincipal: FindPrincipal
  devices: Pick<Devices, 'authenticate'>
  authRateLimit: AuthRateLimit
}

/** Requires credentials for all reads of a scope, also for those whose answer is in memory. */
export type GuardReads = (scope: FastifyInstance) => void

export function createGuardReads({ findPrincipal, devices, authRateLimit }: ReadAccessOptions): GuardReads {
  /** Two credentials at once are nobody's. */
  async function judgementOf(request: FastifyRequest): Promise<Judgement | 'DEVICE_MISMATCH'> {
    const { raw } = request
    const credentials = readBasicCredentials(raw.rawHeaders)
    if (credentials === undefined) return judge('readings.read', await findPrincipal(raw))
    const isOnly = raw.headers['x-api-key'] === undefined
    const device = isOnly ? devices.authenticate(credentials.name, credentials.password) : undefined
    if (device === undefined) return 'UNAUTHENTICATED'
    const asked = devicesAskedIn(request)
    return asked.length > 0 && asked.every(name => name === device.name) ? 'allowed' : 'DEVICE_MISMATCH'
  }

  async function check(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    // A preflight brings no credentials, and what writes has a check of its own.
    if (!isRead(request)) return undefined
    let judgement: Awaited<ReturnType<typeof judgementOf>>
    try {
      judgement = await judgementOf(request)
    } catch (error) {
      if (isUnavailable(error) || error instanceof ChangeInDoubt) return refuse(reply, 'DATABASE_AWAY')
      throw error
    }
    if (judgement === 'allowed') return undefined
    letAnyOriginRead(reply)
    if (judgement !== 'UNAUTHENTICATED') return refuse(reply, judgement)
    return refuse(reply, unauthenticated(request, reply))
  }

  /** Without a credential nothing has failed. */
  function unauthenticated(request: FastifyRequest, reply: FastifyReply): LoggerErrorCode {
    const isGuess = request.headers.authorization !== undefined || request.headers['x-api-key'] !== undefined
    if (isGuess && authRateLimit.isExceeded(request.ip)) return 'TOO_MANY_ATTEMPTS'
    // To Basic a browser opens a dialog of its own, also for a request of a page.
    reply.header('www-authenticate', 'Bearer realm="logger"')
    return 'UNAUTHORIZED'
  }

  return scope => {
    scope.addHook('onRequest', check)
    scope.addHook('onSend', (request, reply, _payload, done) => {
      if (isRead(request)) reply.header('cache-control', privateOf(reply.getHeader('cache-control')))
      done()
    })
  }
}

function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** By the path or the query string: none where a read is about the whole fleet. */
function devicesAskedIn({ params, query }: FastifyRequest): unknown[] {
  const { device, name } = params as Record<string, unknown>
  const { a, b, devices, device: queried } = query as Record<string, unknown>
  return [device, name, a, b, devices, queried].flat().filter(each => each !== undefined)
}

/** Caches that several people share do not see who asks. */
function privateOf(cacheControl: unknown): string {
  const directives = String(cacheControl ?? '')
    .split(',')
    .map(directive => directive.trim())
    .filter(directive => directive !== '' && directive !== 'public' && directive !== 'private')
  return ['private', ...directives].join(', ')
}
