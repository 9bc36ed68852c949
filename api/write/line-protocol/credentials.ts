/** Finds the writer by any credential form of InfluxDB clients. API keys replace tokens or passwords. */

import type { FastifyRequest } from 'fastify'
import type { Keys } from '../../../auth/keys/keys.ts'
import type { CredentialWriter, NoWriter, Writers } from '../../../auth/writers.ts'
import { type BasicCredentials, onlyAuthorization, readBasicCredentials } from '../../http/credentials.ts'

export interface CredentialsOptions {
  writers: Writers
  keys: Pick<Keys, 'find'>
}

export type FindWriter = (request: FastifyRequest) => Promise<CredentialWriter | NoWriter>

/** Longer texts are refused. */
const textLengthMax = 1024

export function createFindLineWriter({ writers, keys }: CredentialsOptions): FindWriter {
  async function ofKey(text: string): ReturnType<FindWriter> {
    const find = () => keys.find(text)
    return writers.ofPrincipal(await find(), find)
  }

  return async request => {
    const given = readCredential(request)
    if (given === undefined) return 'UNAUTHENTICATED'
    if (typeof given === 'string') return await ofKey(given)
    return writers.ofDevice(given.name, given.password) ?? (await ofKey(given.password || given.name))
  }
}

/** True for any credential, valid or not. */
export function hasCredential({ headers, query }: FastifyRequest): boolean {
  const { u, p } = query as Record<string, unknown>
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined || u !== undefined || p !== undefined
}

/** A token, or a name with a password. Undefined without a credential and with several. */
function readCredential(request: FastifyRequest): string | BasicCredentials | undefined {
  const { headers, query } = request
  const { u, p } = query as Record<string, unknown>
  const key = headers['x-api-key']
  const ways = [headers.authorization !== undefined, key !== undefined, u !== undefined || p !== undefined]
  if (ways.filter(Boolean).length !== 1) return undefined
  if (key !== undefined) return isText(key) ? key : undefined
  if (headers.authorization === undefined) {
    return isText(p) && (u === undefined || isText(u)) ? { name: u ?? '', password: p } : undefined
  }
  return readAuthorization(request)
}

function readAuthorization({ raw }: FastifyRequest): string | BasicCredentials | undefined {
  const header = onlyAuthorization(raw.rawHeaders)
  if (header === undefined || header.length > textLengthMax) return undefined
  const space = header.indexOf(' ')
  const scheme = header.slice(0, Math.max(0, space)).toLowerCase()
  if (scheme !== 'token' && scheme !== 'bearer') return readBasicCredentials(raw.rawHeaders)
  const token = header.slice(space + 1).trim()
  // For servers of version 1, clients of version 2 send a name and a password as the token.
  const colon = token.indexOf(':')
  return colon === -1 ? token : { name: token.slice(0, colon), password: token.slice(colon + 1) }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= textLengthMax
}
