/** Authenticates a client by its credential, or returns why not. Failed attempts are counted by address. */

import type { AuthRateLimit } from '../../auth/auth-rate-limit.ts'
import { mayHoldKey } from '../../auth/keys/key-text.ts'
import { unknownSender } from '../../store/limits/networks.ts'
import type { ReadingMeter } from '../intake/reading-meter.ts'
import { boundedText, type Rejection } from '../rejections/rejection.ts'
import type { CloseReason } from './close-reasons.ts'
import type { Connect } from './connect-packet.ts'
import type { Credential, FindCredential } from './credentials.ts'

export interface AuthenticateOptions {
  findCredential: FindCredential
  authRateLimit: AuthRateLimit
  meter: Pick<ReadingMeter, 'rejected'>
}

const texts = {
  unauthorized: 'no valid credential',
  forbidden: 'the API key lacks the scope ingest',
  throttled: 'too many failed attempts',
} as const

export type Authenticate = (connect: Connect, address: string) => Promise<Credential | CloseReason>

export function createAuthenticate({ findCredential, authRateLimit, meter }: AuthenticateOptions): Authenticate {
  return async ({ username, password, clientId }, address) => {
    let found: Awaited<ReturnType<FindCredential>>
    try {
      found = await findCredential(username, password.toString())
    } catch {
      // The database is unavailable, or the outcome of a change of the key is unknown.
      return 'unavailable'
    }
    if (typeof found !== 'string') return found
    const isExceeded = authRateLimit.isExceeded(address)
    const reason = isExceeded ? 'throttled' : found
    // An API key in place of a device's name stays secret.
    const device = username === '' || mayHoldKey(username) ? undefined : username
    const rejection: Rejection = { way: 'mqtt', sender: unknownSender(address), device, reason: texts[reason] }
    meter.rejected(isExceeded ? 'throttled' : 'unauthorized', rejection, {
      client: boundedText(clientId, 200),
      address,
    })
    return reason
  }
}
