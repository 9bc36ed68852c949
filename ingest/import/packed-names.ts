/** The distinct names of a chunk or body as one message: a number for each name resolved before, and a text for each other. */

import type { NameIndex } from '../formats/name-index.ts'
import { type PackedTexts, packTexts, textAt } from './packed-texts.ts'

export interface PackedNames {
  count: number
  /** The names passed as texts, concatenated. */
  parts: PackedTexts
  partsPerName: number
  /** The other names. Without it all names are passed as texts. */
  known: KnownHandles | undefined
}

/** By the index of the name. */
interface KnownHandles {
  /** Number of the name's device; 0 for a name passed as a text. */
  numbers: Uint32Array<ArrayBuffer>
  /** Sequence number of the device when the name was resolved. */
  authSeqs: Float64Array<ArrayBuffer>
  /** Place of the name in the thread's cache; -1 for a name passed as a text. */
  places: Int32Array<ArrayBuffer>
}

export function packNames(names: NameIndex): PackedNames {
  const { known, count } = names
  const texts: string[] = []
  let partsPerName = 1
  const handles = known && {
    numbers: new Uint32Array(count),
    authSeqs: new Float64Array(count),
    places: new Int32Array(count).fill(-1),
  }
  let isAnyKnown = false
  for (let index = 0; index < count; index++) {
    const place = names.placeOf(index)
    if (place === -1 || known === undefined || handles === undefined) {
      const parts = names.parts(index)
      partsPerName = parts.length
      for (const part of parts) texts.push(part)
      continue
    }
    isAnyKnown = true
    handles.numbers[index] = known.number(place)
    handles.authSeqs[index] = known.authSeq(place)
    handles.places[index] = place
  }
  return { count, parts: packTexts(texts), partsPerName, known: isAnyKnown ? handles : undefined }
}

/** Packs some names, all of them as texts. */
export function packTextsOf(names: NameIndex, indexes: ArrayLike<number>): PackedNames {
  const parts = Array.from(indexes, index => names.textOf(index))
  return { count: parts.length, parts: packTexts(parts), partsPerName: 1, known: undefined }
}

/** Indexes of the names passed as texts, in the order of the texts. */
export function textIndexes({ count, known }: PackedNames): number[] {
  const indexes: number[] = []
  for (let index = 0; index < count; index++) if (known === undefined || known.numbers[index] === 0) indexes.push(index)
  return indexes
}

/** Returns a range of the names passed as texts. */
export function unpackNames({ parts, partsPerName }: PackedNames, from = 0, to = Number.POSITIVE_INFINITY): string[][] {
  const count = parts.ends.length / partsPerName
  return Array.from({ length: Math.max(0, Math.min(to, count) - from) }, (_, at) =>
    Array.from({ length: partsPerName }, (_part, part) => textAt(parts, (from + at) * partsPerName + part)),
  )
}

/** For transferring them, or freeing their memory. */
export function arraysOfNames({ parts, known }: PackedNames) {
  return [parts.ends, ...(known === undefined ? [] : [known.numbers, known.authSeqs, known.places])]
}
