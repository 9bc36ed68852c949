/** Knows the local admin token again, in constant time. */

import { hash, timingSafeEqual } from 'node:crypto'
import { onlyAuthorization } from '../http/authorization-header.ts'

const scheme = 'bearer '

/** Whether a request has the token, by its headers. */
export type TokenCheck = (rawHeaders: readonly string[]) => boolean

export function createTokenCheck(token: string): TokenCheck {
  // Digests, because the comparison wants two of the same length and must not tell the length of the token.
  const expected = hash('sha256', token, 'buffer')
  return rawHeaders => {
    const header = onlyAuthorization(rawHeaders) ?? ''
    if (header.slice(0, scheme.length).toLowerCase() !== scheme) return false
    return timingSafeEqual(hash('sha256', header.slice(scheme.length).trim(), 'buffer'), expected)
  }
}
