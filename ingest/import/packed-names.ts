/**
 * The names of a chunk or body, and their series, as one message each: a number for each name resolved before, and a
 * text for each other.
 */

import type { Unresolved } from '../formats/encode.ts'
import type { KnownNames } from '../formats/known-names.ts'
import type { NameIndex } from '../formats/name-index.ts'
import type { Series } from '../formats/row-kind.ts'

export interface PackedNames {
  count: number
  /** The names passed as texts, concatenated. */
  parts: PackedTexts
  partsPerName: number
  /** The other names. Without it all names are passed as texts. */
  known: KnownHandles | undefined
}

/** The index of each array is the name's. */
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

/** Returns the arrays for transferring them, or freeing their memory. */
export function arraysOfNames({ parts, known }: PackedNames) {
  return [parts.ends, ...(known === undefined ? [] : [known.numbers, known.authSeqs, known.places])]
}

export interface PackedSeries {
  /** NaN without a series. */
  numbers: Float64Array<ArrayBuffer>
  /** Symbols of the names passed as texts, in the order of their indexes. Empty without a series. */
  symbols: PackedTexts
  /** Sequence numbers of devices, in the same order; NaN without one. */
  authSeqs: Float64Array<ArrayBuffer>
  /** The distinct reasons of missing series. */
  refusals: Unresolved[]
  /** Index into the reasons, where there is no series. */
  refusalOf: Uint32Array<ArrayBuffer>
}

/** A device of the registry has more properties than the thread needs, possibly ones that cannot be posted. */
export function packSeries(resolved: readonly (Series | Unresolved)[], textIndexes: readonly number[]): PackedSeries {
  const numbers = new Float64Array(resolved.length)
  const refusalOf = new Uint32Array(resolved.length)
  const reasons = new Map<string, number>()
  const refusals: Unresolved[] = []
  for (let index = 0; index < resolved.length; index++) {
    const each = resolved[index] as Series | Unresolved
    numbers[index] = 'number' in each ? each.number : Number.NaN
    if ('number' in each) continue
    const key = `${each.code} ${each.reason}`
    const known = reasons.get(key) ?? refusals.push({ code: each.code, reason: each.reason }) - 1
    reasons.set(key, known)
    refusalOf[index] = known
  }
  const inTexts = textIndexes.map(index => resolved[index] as Series | Unresolved)
  return {
    numbers,
    symbols: packTexts(inTexts.map(each => ('number' in each ? each.symbol : ''))),
    authSeqs: Float64Array.from(inTexts, each => ('number' in each ? (each.authSeq ?? Number.NaN) : Number.NaN)),
    refusals,
    refusalOf,
  }
}

/** The index is the name's. `placeOf` returns its place among the known names, -1 for a name passed as a text. */
export function unpackSeries(
  { numbers, symbols, refusals, refusalOf }: PackedSeries,
  placeOf: (index: number) => number,
  known: KnownNames | undefined,
): (Series | Unresolved)[] {
  const resolved: (Series | Unresolved)[] = []
  let text = 0
  for (let index = 0; index < numbers.length; index++) {
    const number = numbers[index] as number
    const place = placeOf(index)
    const textIndex = place === -1 ? text++ : -1
    if (Number.isNaN(number)) resolved.push(refusals[refusalOf[index] as number] as Unresolved)
    else resolved.push({ number, symbol: textIndex === -1 ? (known?.symbol(place) ?? '') : textAt(symbols, textIndex) })
  }
  return resolved
}

/** Caches the series of names passed as texts; `texts` has them in the order of their indexes. */
export function learnNames(
  known: KnownNames,
  texts: Iterable<string>,
  series: PackedSeries,
  indexes: readonly number[],
) {
  let at = 0
  for (const text of texts) {
    const number = series.numbers[indexes[at] as number] as number
    const authSeq = series.authSeqs[at] as number
    if (!Number.isNaN(number + authSeq)) known.learn(text, { number, symbol: textAt(series.symbols, at), authSeq })
    at++
  }
}

/** Returns the arrays for transferring them, or freeing their memory. */
export function arraysOfSeries({ numbers, symbols, authSeqs, refusalOf }: PackedSeries) {
  return [numbers, symbols.ends, authSeqs, refusalOf]
}

/** Many texts as one message: a thread receives one string and one array at once, but many strings one by one. */
interface PackedTexts {
  text: string
  /** End of each text in the whole string. */
  ends: Uint32Array<ArrayBuffer>
}

export function packTexts(texts: readonly string[]): PackedTexts {
  const ends = new Uint32Array(texts.length)
  let end = 0
  for (let index = 0; index < texts.length; index++) {
    end += (texts[index] as string).length
    ends[index] = end
  }
  return { text: texts.join(''), ends }
}

/** The text with this index: a slice, which keeps the whole string in memory. */
export function textAt({ text, ends }: PackedTexts, index: number): string {
  return text.slice(ends[index - 1] ?? 0, ends[index])
}
