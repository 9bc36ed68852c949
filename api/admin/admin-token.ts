/** Compares a credential with the local admin token in constant time. */

import { hash, timingSafeEqual } from 'node:crypto'
import { onlyAuthorization } from '../http/credentials.ts'

const scheme = 'bearer '

/** True if the headers have the token. */
export type TokenCheck = (rawHeaders: readonly string[]) => boolean

export function createTokenCheck(token: string): TokenCheck {
  // Digests have equal lengths, as the comparison requires, and hide the length of the token.
  const expected = hash('sha256', token, 'buffer')
  return rawHeaders => {
    const header = onlyAuthorization(rawHeaders) ?? ''
    if (header.slice(0, scheme.length).toLowerCase() !== scheme) return false
    return timingSafeEqual(hash('sha256', header.slice(scheme.length).trim(), 'buffer'), expected)
  }
}
