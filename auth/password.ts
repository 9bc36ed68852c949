/**
 * Device passwords: 256 random bits as hexadecimal digits, kept as a plain SHA-256.
 *
 * A slow hash exists for secrets that can be guessed. These cannot, and a slow hash for each reading would let anybody
 * stop the service with made-up names.
 */

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

const passwordBytes = 32

/** Stands in for the digest of an unknown device, so that the same work is done for it. It is no digest of any password. */
const nobody = Buffer.alloc(32)

export function makePasswords(count: number): string[] {
  const random = randomBytes(count * passwordBytes).toString('hex')
  return Array.from({ length: count }, (_, at) => random.slice(at * passwordBytes * 2, (at + 1) * passwordBytes * 2))
}

/** The case of the digits does not matter. */
export function digestOf(password: string): Buffer {
  return hash('sha256', password.toLowerCase(), 'buffer')
}

export function digestEquals(digest: Buffer, expected: Buffer | undefined): boolean {
  return timingSafeEqual(digest, expected ?? nobody) && expected !== undefined
}
