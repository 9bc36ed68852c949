/** Who writes readings: a device by its Basic credential, or an API key. */

import type { IncomingMessage } from 'node:http'
import type { CredentialWriter, NoWriter, Writers } from '../../auth/writers.ts'
import type { FindPrincipal } from '../credentials/find-principal.ts'
import { readBasicCredentials } from '../http/basic-credentials.ts'

export interface FindWriterOptions {
  writers: Pick<Writers, 'ofDevice' | 'ofPrincipal'>
  /** By exactly one credential of people and programs, `X-API-Key` and bearer among them. */
  findPrincipal: FindPrincipal
}

type Found = CredentialWriter | NoWriter

/** Two credentials at once are nobody's. A device is found in memory, without a promise: of these there is one a reading. */
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
