/**
 * Reads the credentials of HTTP Basic authentication (RFC 7617), strictly: what is not plainly one name and one password
 * is nobody's.
 */

import { isUtf8 } from 'node:buffer'
import { onlyAuthorization } from './authorization-header.ts'

export interface BasicCredentials {
  name: string
  password: string
}

/** A name of 64 characters takes at most 256 bytes and a password 64, which base64 makes four thirds of. */
const headerLengthMax = 1024
const scheme = 'basic '

/** `rawHeaders` as Node gives them: names and values in turns. */
export function readBasicCredentials(rawHeaders: readonly string[]): BasicCredentials | undefined {
  const header = onlyAuthorization(rawHeaders)
  if (header === undefined || header.length > headerLengthMax) return undefined
  if (header.slice(0, scheme.length).toLowerCase() !== scheme) return undefined
  const bytes = strictBase64(header.slice(scheme.length).trimStart())
  // A lenient decoder would turn two different faulty names into the same one.
  if (bytes === undefined || !isUtf8(bytes)) return undefined
  const text = bytes.toString()
  const colon = text.indexOf(':')
  return colon === -1 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** Node's decoder takes almost anything; only the one spelling that an encoder gives comes back as it was. */
function strictBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
