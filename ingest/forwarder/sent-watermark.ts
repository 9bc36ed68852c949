/**
 * A low watermark of the rows sent since a transaction of the table: the time of the oldest. Results computed from the table as
 * of that transaction, such as its hours, include all rows before this time, and may lack later ones.
 */

import { bug } from '../../store/limits/bug.ts'

/** Sent by the forwarder before its rows become visible in the table. */
export type SentEvent =
  | {
      readonly kind: 'sent'
      /** The oldest row with an unknown transaction; Infinity without any. */
      readonly unsequencedUs: number
      /** Rows in the table as of this transaction, with the oldest of them. All rows before the position are in it. */
      readonly sequenced?: { readonly txn: number; readonly oldestUs: number; readonly position: number }
    }
  /** The table may have lost accepted rows. Everything is sent again. */
  | { readonly kind: 'lost'; readonly reason: string }

export class SentWatermark {
  /** Keys are transactions. */
  readonly #sequenced = new OldestRows()
  #unsequencedUs = Number.POSITIVE_INFINITY

  apply(event: SentEvent): void {
    if (event.kind === 'lost') {
      this.#sequenced.clear()
      this.#unsequencedUs = Number.POSITIVE_INFINITY
      return
    }
    this.#unsequencedUs = event.unsequencedUs
    if (event.sequenced !== undefined) this.#sequenced.add(event.sequenced.txn, event.sequenced.oldestUs)
  }

  /** Infinity when all rows are in the table as of this transaction. It never decreases, so earlier entries are dropped. */
  oldestSince(txn: number): number {
    this.#sequenced.forgetUpTo(txn)
    return Math.min(this.#unsequencedUs, this.#sequenced.oldestBehind(txn))
  }
}

interface Range {
  /** Its last transaction, or offset. */
  end: number
  oldestUs: number
  /** Number of ranges merged into this one. */
  merged: number
}

/** Neighbours are merged beyond this many. */
const rangesMax = 64

/**
 * The oldest row of each range of a sequence of transactions or offsets: a lower bound of the time of all rows after a place, in
 * bounded memory.
 */
export class OldestRows {
  /** Ascending, each merged from about as many: a large one would never be passed completely. */
  #ranges: Range[] = []
  #mergedMax = 1

  /** Adds rows after the earlier ones, up to `end`. */
  add(end: number, oldestUs: number): void {
    this.#add({ end, oldestUs, merged: 1 })
  }

  /** A lower bound of the times of rows after `end`; Infinity without any. */
  oldestBehind(end: number): number {
    let oldestUs = Number.POSITIVE_INFINITY
    for (const range of this.#ranges) if (range.end > end) oldestUs = Math.min(oldestUs, range.oldestUs)
    return oldestUs
  }

  /** Drops the ranges up to here, which are not queried any more. */
  forgetUpTo(end: number): void {
    this.#ranges = this.#ranges.filter(range => range.end > end)
    // New ranges can be finer once merged ones are dropped.
    if (this.#ranges.length < rangesMax / 4) this.#mergedMax = Math.max(1, Math.floor(this.#mergedMax / 2))
  }

  clear(): void {
    this.#ranges = []
  }

  #add(range: Range): void {
    const last = this.#ranges.at(-1)
    if (last !== undefined && range.end < last.end)
      throw bug(`rows up to ${range.end} come behind those up to ${last.end}`)
    if (last !== undefined && last.merged < this.#mergedMax) this.#ranges.splice(-1, 1, merge(last, range))
    else this.#ranges.push(range)
    if (this.#ranges.length <= rangesMax) return
    this.#mergedMax *= 2
    const ranges = this.#ranges
    this.#ranges = []
    for (const each of ranges) this.#add(each)
  }
}

/** Takes the later end and the older row of two neighbours, so that the bound stays valid. */
function merge(range: Range, next: Range): Range {
  return {
    end: next.end,
    oldestUs: Math.min(range.oldestUs, next.oldestUs),
    merged: range.merged + next.merged,
  }
}
