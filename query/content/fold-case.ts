/** Case-insensitive text, for all letters that have a case, and the digest under which such text is looked up. */

import { createHash } from 'node:crypto'

/**
 * Lower case first, for letters such as the Kelvin sign that are capitals of another letter. Then upper case, for
 * letters with two small forms (σ, ς) or with several characters as a capital (ß, SS).
 */
export function foldCase(text: string): string {
  return text.toLowerCase().toUpperCase()
}

const moduleDigestBytes = 16

/** The column `edx_module_digest`, long enough to rule out collisions. */
export function moduleDigest(moduleId: string): Buffer {
  return createHash('sha256').update(foldCase(moduleId)).digest().subarray(0, moduleDigestBytes)
}
