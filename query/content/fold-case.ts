/** Text without regard to case, for all letters that have one, and the digest under which such text is looked up. */

import { createHash } from 'node:crypto'

/**
 * Lower case first, for letters such as the Kelvin sign that are capitals of another letter; then capitals, for those
 * that have two small forms (σ, ς) or several characters as a capital (ß, SS).
 */
export function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase()
}

const moduleDigestBytes = 16

/** The column `edx_module_digest`: long enough that nobody can make two values meet. */
export function moduleDigest(moduleId: string): Buffer {
  return createHash('sha256').update(foldCase(moduleId)).digest().subarray(0, moduleDigestBytes)
}
