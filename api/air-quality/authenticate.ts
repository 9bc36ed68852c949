/** Who asks: the holder of the API key that is the user name of HTTP Basic. The password does not count. */

import type { FastifyRequest } from 'fastify'
import { createAuthRateLimit } from '../../auth/auth-rate-limit.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { KeyPrincipal } from '../../auth/stations/permissions.ts'
import type { ProcessCount } from '../../store/limits/shared-rate.ts'
import { readBasicCredentials } from '../http/basic-credentials.ts'

export type Authenticated = { ok: true; key: KeyPrincipal } | { ok: false; code: 'UNAUTHORIZED' | 'TOO_MANY_ATTEMPTS' }

export interface AuthenticateOptions {
  keys: Pick<Keys, 'find'>
  nowMs: () => number
  /** By an address; others are told to wait. */
  failedAttemptsPerMinute: number
  /** They share what is by an address. */
  processes?: ProcessCount
}

export function createAuthenticate(options: AuthenticateOptions): (request: FastifyRequest) => Promise<Authenticated> {
  const { keys, nowMs, failedAttemptsPerMinute, processes } = options
  const authRateLimit = createAuthRateLimit(failedAttemptsPerMinute, nowMs, processes)
  return async ({ raw, headers, ip }) => {
    const credentials = readBasicCredentials(raw.rawHeaders)
    const key = credentials && (await keys.find(credentials.name))
    if (key !== undefined) return { ok: true, key }
    // Some clients send their key only when they have been asked for it, so without one nothing has failed.
    const isGuess = headers.authorization !== undefined
    return { ok: false, code: isGuess && authRateLimit.isExceeded(ip) ? 'TOO_MANY_ATTEMPTS' : 'UNAUTHORIZED' }
  }
}
