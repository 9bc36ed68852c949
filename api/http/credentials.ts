/** Reads the credentials of a request: its only Authorization header, HTTP Basic (RFC 7617), and cookies. */

import { isUtf8 } from 'node:buffer'

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

/**
 * Undefined without the header, and with several: Node drops all but the first, while a proxy may have read another.
 * `rawHeaders` alternates names and values, as in Node.
 */
export function onlyAuthorization(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length !== 13 || name.toLowerCase() !== 'authorization') continue
    if (found !== undefined) return undefined
    found = rawHeaders[at + 1]
  }
  return found
}

/** Undefined if the cookie is missing, or ambiguous because it is repeated. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const found = (header ?? '').split(';').flatMap(part => {
    const at = part.indexOf('=')
    return at >= 0 && part.slice(0, at).trim() === name ? [part.slice(at + 1).trim()] : []
  })
  return found.length === 1 ? found[0] : undefined
}
