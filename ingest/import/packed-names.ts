/** The distinct names of a chunk as one message. */

import { type PackedTexts, packTexts, textAt } from './packed-texts.ts'

export interface PackedNames {
  count: number
  /** Of each name, one after the other. */
  parts: PackedTexts
}

export function packNames(names: readonly (readonly string[])[]): PackedNames {
  return { count: names.length, parts: packTexts(names.flat()) }
}

/** The names from one index to another. */
export function unpackNames({ count, parts }: PackedNames, from = 0, to = count): string[][] {
  const partsPerName = parts.ends.length / count
  return Array.from({ length: Math.min(to, count) - from }, (_, at) =>
    Array.from({ length: partsPerName }, (_part, part) => textAt(parts, (from + at) * partsPerName + part)),
  )
}
