/** What the names of a chunk stand for, as one message to the thread that encodes its rows. */

import type { Unresolved } from '../formats/encode.ts'
import type { Series } from '../formats/row-kind.ts'
import { type PackedTexts, packTexts, textAt } from './packed-texts.ts'

export interface PackedSeries {
  /** NaN where there is no series. */
  numbers: Float64Array<ArrayBuffer>
  /** Empty where there is no series. */
  symbols: PackedTexts
  /** Why there are no series: each reason once. */
  refusals: Unresolved[]
  /** Index into these, where there is no series. */
  refusalOf: Uint32Array<ArrayBuffer>
}

/** Takes them slice by slice. A device of the registry carries more than the thread needs, and perhaps more than can be sent. */
export class SeriesPacker {
  readonly #numbers: number[] = []
  readonly #symbols: string[] = []
  readonly #refusals = new Map<string, { index: number; refusal: Unresolved }>()
  readonly #refusalOf: number[] = []

  add(resolved: readonly (Series | Unresolved)[]): void {
    for (const each of resolved) {
      const isSeries = 'number' in each
      this.#numbers.push(isSeries ? each.number : Number.NaN)
      this.#symbols.push(isSeries ? each.symbol : '')
      this.#refusalOf.push(isSeries ? 0 : this.#indexOf(each))
    }
  }

  pack(): PackedSeries {
    return {
      numbers: Float64Array.from(this.#numbers),
      symbols: packTexts(this.#symbols),
      refusals: [...this.#refusals.values()].map(({ refusal }) => refusal),
      refusalOf: Uint32Array.from(this.#refusalOf),
    }
  }

  #indexOf({ code, reason }: Unresolved): number {
    const key = `${code} ${reason}`
    const known = this.#refusals.get(key)
    if (known !== undefined) return known.index
    const index = this.#refusals.size
    this.#refusals.set(key, { index, refusal: { code, reason } })
    return index
  }
}

export function unpackSeries({ numbers, symbols, refusals, refusalOf }: PackedSeries): (Series | Unresolved)[] {
  return Array.from(numbers, (number, index) => {
    if (!Number.isNaN(number)) return { number, symbol: textAt(symbols, index) }
    return refusals[refusalOf[index] as number] as Unresolved
  })
}
