/** Authenticates the holder of the API key in the user name of HTTP Basic. The password is ignored. */

import type { FastifyRequest } from 'fastify'
import { createAuthRateLimit } from '../../auth/auth-rate-limit.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { KeyPrincipal } from '../../auth/stations/permissions.ts'
import type { ProcessCount } from '../../store/limits/token-buckets.ts'
import { readBasicCredentials } from '../http/credentials.ts'

export type Authenticated = { ok: true; key: KeyPrincipal } | { ok: false; code: 'UNAUTHORIZED' | 'TOO_MANY_ATTEMPTS' }

export interface AuthenticateOptions {
  keys: Pick<Keys, 'find'>
  nowMs: () => number
  /** Limit for one address. Further attempts have to wait. */
  failedAttemptsPerMinute: number
  /** Processes share the limits of an address. */
  processes?: ProcessCount
}

export function createAuthenticate(options: AuthenticateOptions): (request: FastifyRequest) => Promise<Authenticated> {
  const { keys, nowMs, failedAttemptsPerMinute, processes } = options
  const authRateLimit = createAuthRateLimit(failedAttemptsPerMinute, nowMs, processes)
  return async ({ raw, headers, ip }) => {
    const credentials = readBasicCredentials(raw.rawHeaders)
    const key = credentials && (await keys.find(credentials.name))
    if (key !== undefined) return { ok: true, key }
    // Some clients send their key only after a challenge, so a missing key is not a failed attempt.
    const isGuess = headers.authorization !== undefined
    return { ok: false, code: isGuess && authRateLimit.isExceeded(ip) ? 'TOO_MANY_ATTEMPTS' : 'UNAUTHORIZED' }
  }
}
