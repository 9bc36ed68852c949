/** Who writes bulk readings: a device by its Basic credential, or an API key. */

import type { IncomingMessage } from 'node:http'
import type { Writer, Writers } from '../../auth/writers.ts'
import type { FindPrincipal } from '../accounts/kit/credentials.ts'
import { readBasicCredentials } from '../http/basic-credentials.ts'

export interface FindWriterOptions {
  writers: Writers
  /** By exactly one credential of people and programs, `X-API-Key` and bearer among them. */
  findPrincipal: FindPrincipal
}

/** Two credentials at once are nobody's. */
export function createFindWriter({ writers, findPrincipal }: FindWriterOptions) {
  return async (request: IncomingMessage): Promise<Writer | 'UNAUTHENTICATED' | 'FORBIDDEN'> => {
    const credentials = readBasicCredentials(request.rawHeaders)
    if (credentials === undefined) return writers.ofPrincipal(await findPrincipal(request))
    if (request.headers['x-api-key'] !== undefined) return 'UNAUTHENTICATED'
    return writers.ofDevice(credentials.name, credentials.password) ?? 'UNAUTHENTICATED'
  }
}
