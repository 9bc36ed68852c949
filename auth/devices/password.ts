/**
 * Device passwords: 256 random bits as hexadecimal digits, stored as a plain SHA-256.
 *
 * Slow hashes protect secrets that can be guessed. These cannot, and a slow hash for each reading would allow denial of
 * service with invented names.
 */

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

const passwordBytes = 32

const digestBytes = 32
/** Shared buffer for the expected digest. The comparison is synchronous. */
const expected = Buffer.alloc(digestBytes)
/** Replaces the digest of an unknown device for equal work. No known password has it. */
const unknownDigest = '\0'.repeat(digestBytes)

export function makePasswords(count: number): string[] {
  const random = randomBytes(count * passwordBytes).toString('hex')
  return Array.from({ length: count }, (_, at) => random.slice(at * passwordBytes * 2, (at + 1) * passwordBytes * 2))
}

/** Digits may have any case. */
export function digestOf(password: string): Buffer {
  return hash('sha256', password.toLowerCase(), 'buffer')
}

/** Text with one byte a character: a small Buffer takes three times the memory. */
export function packDigest(digest: Buffer): string {
  return digest.toString('latin1')
}

export function unpackDigest(packed: string): Buffer {
  return Buffer.from(packed, 'latin1')
}

export function digestEquals(digest: Buffer, packed: string | undefined): boolean {
  expected.write(packed ?? unknownDigest, 'latin1')
  return timingSafeEqual(digest, expected) && packed !== undefined
}
