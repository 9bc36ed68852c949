/** The series of the names of a chunk or body, as one message to the thread that encodes its rows. */

import type { Unresolved } from '../formats/encode.ts'
import type { KnownNames } from '../formats/known-names.ts'
import type { Series } from '../formats/row-kind.ts'
import { type PackedTexts, packTexts, textAt } from './packed-texts.ts'

export interface PackedSeries {
  /** NaN without a series. */
  numbers: Float64Array<ArrayBuffer>
  /** For the names passed as texts, in the order of their indexes. Empty without a series. */
  symbols: PackedTexts
  /** In the same order; NaN without one. */
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

/** By the index of the name. `placeOf` returns its place among the known names, -1 for a name passed as a text. */
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

/** For transferring them, or freeing their memory. */
export function arraysOfSeries({ numbers, symbols, authSeqs, refusalOf }: PackedSeries) {
  return [numbers, symbols.ends, authSeqs, refusalOf]
}
