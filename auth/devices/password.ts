/**
 * Device passwords: 256 random bits as hexadecimal digits, kept as a plain SHA-256.
 *
 * A slow hash exists for secrets that can be guessed. These cannot, and a slow hash for each reading would let anybody
 * stop the service with made-up names.
 */

import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

const passwordBytes = 32

const digestBytes = 32
/** Where the expected digest is laid out to be compared; the comparison is done before anybody else can write here. */
const expected = Buffer.alloc(digestBytes)
/** Stands in for the digest of an unknown device, so that the same work is done for it. No password is known to have it. */
const nobody = '\0'.repeat(digestBytes)

export function makePasswords(count: number): string[] {
  const random = randomBytes(count * passwordBytes).toString('hex')
  return Array.from({ length: count }, (_, at) => random.slice(at * passwordBytes * 2, (at + 1) * passwordBytes * 2))
}

/** The case of the digits does not matter. */
export function digestOf(password: string): Buffer {
  return hash('sha256', password.toLowerCase(), 'buffer')
}

/** As text of one byte a character: a small Buffer takes three times the memory, of which a large fleet has plenty. */
export function packDigest(digest: Buffer): string {
  return digest.toString('latin1')
}

export function unpackDigest(packed: string): Buffer {
  return Buffer.from(packed, 'latin1')
}

export function digestEquals(digest: Buffer, packed: string | undefined): boolean {
  expected.write(packed ?? nobody, 'latin1')
  return timingSafeEqual(digest, expected) && packed !== undefined
}
