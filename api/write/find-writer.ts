/** Finds the writer of a request, and the errors of its idempotency key. */

import type { IncomingMessage } from 'node:http'
import type { CredentialWriter, NoWriter, Writers } from '../../auth/writers.ts'
import type { ClaimRefusal } from '../../ingest/idempotency/claim-group.ts'
import { databaseAway, outcomeRefusals } from '../../ingest/intake/intake.ts'
import type { Refusal } from '../../ingest/intake/refusal.ts'
import type { FindPrincipal } from '../credentials/find-principal.ts'
import { readBasicCredentials } from '../http/credentials.ts'

export const claimRefusals: Record<ClaimRefusal, Refusal> = {
  ...outcomeRefusals,
  'other request': { reason: 'key_reused', code: 'KEY_REUSED' },
  'too many of writer': { reason: 'throttled', code: 'TOO_MANY_IDEMPOTENCY_KEYS_OF_WRITER' },
  'too many': { reason: 'full', code: 'TOO_MANY_IDEMPOTENCY_KEYS' },
  'database away': databaseAway,
}

export interface FindWriterOptions {
  writers: Pick<Writers, 'ofDevice' | 'ofPrincipal'>
  /** Takes exactly one credential of people and programs, such as `X-API-Key` and bearer. */
  findPrincipal: FindPrincipal
}

type Found = CredentialWriter | NoWriter

/** Two credentials are refused. Devices are found in memory without a promise, as each reading needs one lookup. */
export function createFindWriter({ writers, findPrincipal }: FindWriterOptions) {
  const findByPrincipal = async (request: IncomingMessage): Promise<Found> => {
    const find = () => findPrincipal(request)
    return writers.ofPrincipal(await find(), find)
  }

  return (request: IncomingMessage): Found | Promise<Found> => {
    const credentials = readBasicCredentials(request.rawHeaders)
    if (credentials === undefined) return findByPrincipal(request)
    if (request.headers['x-api-key'] !== undefined) return 'UNAUTHENTICATED'
    return writers.ofDevice(credentials.name, credentials.password) ?? 'UNAUTHENTICATED'
  }
}
