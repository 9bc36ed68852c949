/**
 * Reads the credentials of HTTP Basic authentication (RFC 7617), strictly: what is not plainly one name and one password
 * is nobody's. A pure function of the headers as they came in, since Node keeps the first of two and drops the other.
 */

import { isUtf8 } from 'node:buffer'

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

function onlyAuthorization(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length !== 13 || name.toLowerCase() !== 'authorization') continue
    if (found !== undefined) return undefined
    found = rawHeaders[at + 1]
  }
  return found
}

/** Node's decoder takes almost anything; only the one spelling that an encoder gives comes back as it was. */
function strictBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
