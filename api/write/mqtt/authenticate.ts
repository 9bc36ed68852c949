/** Lets a client in by its credential, or says why not. Failing attempts are counted by address. */

import type { AuthRateLimit } from '../../http/auth-rate-limit.ts'
import type { ReadingMeter } from '../reading-meter.ts'
import type { CloseReason } from './close-reasons.ts'
import type { Connect } from './connect-packet.ts'
import type { Credential, FindCredential } from './credentials.ts'

export interface AuthenticateOptions {
  findCredential: FindCredential
  authRateLimit: AuthRateLimit
  meter: Pick<ReadingMeter, 'rejected'>
}

export type Authenticate = (connect: Connect, address: string) => Promise<Credential | CloseReason>

export function createAuthenticate({ findCredential, authRateLimit, meter }: AuthenticateOptions): Authenticate {
  return async ({ username, password }, address) => {
    let found: Awaited<ReturnType<FindCredential>>
    try {
      found = await findCredential(username, password.toString())
    } catch {
      // The database is away, or does not tell what came of a change of the key.
      return 'unavailable'
    }
    if (typeof found !== 'string') return found
    const isExceeded = authRateLimit.isExceeded(address)
    meter.rejected(isExceeded ? 'throttled' : 'unauthorized')
    return isExceeded ? 'throttled' : found
  }
}
