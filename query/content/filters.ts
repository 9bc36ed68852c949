/** Filters of the listing. */

import { createHash } from 'node:crypto'

/** An undefined filter does not narrow the listing. An empty one matches no file. */
export interface Filters {
  runIds: readonly number[] | undefined
  resourceIds: readonly number[] | undefined
  /** Case-insensitive, as `foldCase` writes it. */
  featureTypes: readonly string[] | undefined
  moduleIds: readonly string[] | undefined
  units: readonly string[] | undefined
  platforms: readonly string[] | undefined
}

export interface Codes {
  units: ReadonlySet<string>
  platforms: ReadonlySet<string>
}

/** The first unknown code of each filter; undefined where all are known. */
export interface UnknownCodes {
  unit: string | undefined
  platform: string | undefined
}

export function unknownCodes({ units, platforms }: Filters, known: Codes): UnknownCodes {
  return {
    unit: units?.find(code => !known.units.has(code)),
    platform: platforms?.find(code => !known.platforms.has(code)),
  }
}

export function areAllKnown({ unit, platform }: UnknownCodes): boolean {
  return unit === undefined && platform === undefined
}

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
