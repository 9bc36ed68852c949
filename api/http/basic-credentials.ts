/** Parses HTTP Basic credentials (RFC 7617) strictly: exactly one name and one password. */

import { isUtf8 } from 'node:buffer'
import { onlyAuthorization } from './authorization-header.ts'

export interface BasicCredentials {
  name: string
  password: string
}

/** A name of 64 characters has at most 256 bytes and a password 64. Base64 adds a third. */
const headerLengthMax = 1024
const scheme = 'basic '

/** `rawHeaders` alternates names and values, as in Node. */
export function readBasicCredentials(rawHeaders: readonly string[]): BasicCredentials | undefined {
  const header = onlyAuthorization(rawHeaders)
  if (header === undefined || header.length > headerLengthMax) return undefined
  if (header.slice(0, scheme.length).toLowerCase() !== scheme) return undefined
  const bytes = strictBase64(header.slice(scheme.length).trimStart())
  // A lenient decoder would map two invalid names to the same name.
  if (bytes === undefined || !isUtf8(bytes)) return undefined
  const text = bytes.toString()
  const colon = text.indexOf(':')
  return colon === -1 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** Node's decoder accepts almost anything. Only the canonical spelling survives a round trip. */
function strictBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
