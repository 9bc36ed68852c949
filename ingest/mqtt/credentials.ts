/** Credentials of clients: a device's name and password, or an API key with the scope `ingest` in either of the two fields. */

import type { Devices } from '../../auth/devices/devices.ts'
import { mayHoldKey } from '../../auth/keys/key-text.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { AuthRateLimit } from '../../auth/rate-limits.ts'
import type { Writer, Writers } from '../../auth/writers.ts'
import { unknownSender } from '../../store/limits/networks.ts'
import type { ReadingMeter } from '../intake/reading-meter.ts'
import { senderOf } from '../intake/rejection-source.ts'
import { boundedText } from '../rejections/bounded-text.ts'
import type { RejectedSender, Rejection } from '../rejections/rejection.ts'
import type { Connect } from './connect-packet.ts'
import type { CloseReason } from './reason-codes.ts'

export interface Credential {
  /** Constant for a credential. */
  id: string
  /** The sender, for logs. */
  sender: RejectedSender
  /** The current writer. Undefined once the credential is revoked; `unknown` until `refresh` has looked it up. */
  writer(): Writer | 'unknown' | undefined
  /** Looks up a credential that is not in memory. Rejects while it cannot. */
  refresh?(): Promise<void>
}

export interface CredentialsOptions {
  devices: Pick<Devices, 'credentialCheck'>
  writers: Pick<Writers, 'ofDevice' | 'ofPrincipal'>
  keys: Pick<Keys, 'find' | 'isCurrent'>
}

/** `forbidden`: the API key is valid, but lacks the scope. Rejects while an API key cannot be looked up. */
type FindCredential = (username: string, password: string) => Promise<Credential | 'unauthorized' | 'forbidden'>

export function createCredentials({ devices, writers, keys }: CredentialsOptions): FindCredential {
  function ofDevice(name: string, password: string): Credential | 'unauthorized' {
    const writer = writers.ofDevice(name, password)
    if (writer?.device === undefined) return 'unauthorized'
    const isCurrent = devices.credentialCheck(writer.device, password)
    return { id: writer.id, sender: senderOf(writer), writer: () => (isCurrent() ? writer : undefined) }
  }

  async function ofKey(text: string): ReturnType<FindCredential> {
    let principal = await keys.find(text)
    const found = writers.ofPrincipal(principal)
    if (typeof found === 'string') return found === 'FORBIDDEN' ? 'forbidden' : 'unauthorized'
    let writer: Writer | undefined = found
    return {
      id: found.id,
      sender: senderOf(found),
      writer: () => (principal === undefined || keys.isCurrent(principal) ? writer : 'unknown'),
      async refresh() {
        principal = await keys.find(text)
        const now = writers.ofPrincipal(principal)
        writer = typeof now === 'string' ? undefined : now
      },
    }
  }

  return async (username, password) => {
    const key = [password, username].find(mayHoldKey)
    return key === undefined ? ofDevice(username, password) : await ofKey(key)
  }
}

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

/** Authenticates a client by its credential, or returns why not. Failed attempts are counted by address. */
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
