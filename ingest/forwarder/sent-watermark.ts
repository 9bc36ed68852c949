/**
 * A low watermark of the rows sent since a transaction of the table: the time of the oldest. What is computed from the table up to that
 * transaction, such as its hours, has all rows before this time, and may lack some of those behind it.
 */

import { bug } from '../../limits/bug.ts'

/** Sent by the forwarder before the rows that it is about can be seen in the table. */
export type SentEvent =
  | {
      readonly kind: 'sent'
      /** The oldest row of those whose transaction is not known yet; Infinity when there are none. */
      readonly unsequencedUs: number
      /** Rows that have come into the table up to this transaction, by the oldest of them. */
      readonly sequenced?: { readonly txn: number; readonly oldestUs: number }
    }
  /** The table may have lost what it had taken; everything is sent again. */
  | { readonly kind: 'lost'; readonly reason: string }

/** Rows that came into the table up to this transaction. */
interface SentRange {
  txn: number
  oldestUs: number
  /** How many ranges were merged into this one. */
  merged: number
}

/** Beyond this many, neighbours are merged. */
const rangesMax = 64

export class SentWatermark {
  /** By ascending transaction, each merged from about as many: a large one would never be passed as a whole. */
  #ranges: SentRange[] = []
  #mergedMax = 1
  #unsequencedUs = Number.POSITIVE_INFINITY

  apply(event: SentEvent): void {
    if (event.kind === 'lost') {
      this.#ranges = []
      this.#unsequencedUs = Number.POSITIVE_INFINITY
      return
    }
    this.#unsequencedUs = event.unsequencedUs
    if (event.sequenced !== undefined) this.#add({ ...event.sequenced, merged: 1 })
  }

  /** Infinity when all rows came into the table up to this transaction. It never falls, so the ranges before it are removed. */
  oldestSince(txn: number): number {
    this.#ranges = this.#ranges.filter(range => range.txn > txn)
    if (this.#ranges.length === 0) this.#mergedMax = 1
    return this.#ranges.reduce((oldestUs, range) => Math.min(oldestUs, range.oldestUs), this.#unsequencedUs)
  }

  #add(range: SentRange): void {
    const last = this.#ranges.at(-1)
    if (last !== undefined && range.txn < last.txn) throw bug(`transaction ${range.txn} comes behind ${last.txn}`)
    if (last !== undefined && last.merged < this.#mergedMax) this.#ranges.splice(-1, 1, merge(last, range))
    else this.#ranges.push(range)
    if (this.#ranges.length <= rangesMax) return
    this.#mergedMax *= 2
    const pairs = this.#ranges
    this.#ranges = []
    for (const each of pairs) this.#add(each)
  }
}

/** Of two neighbours the later transaction and the older row, so that nothing is taken for newer than it is. */
function merge(range: SentRange, next: SentRange): SentRange {
  return {
    txn: next.txn,
    oldestUs: Math.min(range.oldestUs, next.oldestUs),
    merged: range.merged + next.merged,
  }
}
