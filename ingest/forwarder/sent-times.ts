/**
 * How old the rows are that were sent since a transaction of the table. What is computed from the table up to that
 * transaction, such as its hours, has all rows before this time, and may lack some of those behind it.
 */

/** What the forwarder tells, before the rows that it is about can be seen in the table. */
export type SentNews =
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
interface Stretch {
  txn: number
  oldestUs: number
  /** How many that were told apart are one now. */
  parts: number
}

/** So many are told apart; then neighbours become one. */
const stretchesMax = 64

export class SentTimes {
  /** By ascending transaction, all of about the same number of parts: a large one would never be passed as a whole. */
  #stretches: Stretch[] = []
  #partsMax = 1
  #unsequencedUs = Number.POSITIVE_INFINITY

  learn(news: SentNews): void {
    if (news.kind === 'lost') {
      this.#stretches = []
      this.#unsequencedUs = Number.POSITIVE_INFINITY
      return
    }
    this.#unsequencedUs = news.unsequencedUs
    if (news.sequenced !== undefined) this.#add({ ...news.sequenced, parts: 1 })
  }

  /** Infinity when all rows came into the table up to this transaction. It never falls, so what it covers is forgotten. */
  oldestSince(txn: number): number {
    this.#stretches = this.#stretches.filter(stretch => stretch.txn > txn)
    if (this.#stretches.length === 0) this.#partsMax = 1
    return this.#stretches.reduce((oldestUs, stretch) => Math.min(oldestUs, stretch.oldestUs), this.#unsequencedUs)
  }

  #add(stretch: Stretch): void {
    const last = this.#stretches.at(-1)
    if (last !== undefined && last.parts < this.#partsMax) this.#stretches.splice(-1, 1, joined(last, stretch))
    else this.#stretches.push(stretch)
    if (this.#stretches.length <= stretchesMax) return
    this.#partsMax *= 2
    const pairs = this.#stretches
    this.#stretches = []
    for (const each of pairs) this.#add(each)
  }
}

/** Of two neighbours the later transaction and the older row, so that nothing is taken for newer than it is. */
function joined(stretch: Stretch, next: Stretch): Stretch {
  return {
    txn: next.txn,
    oldestUs: Math.min(stretch.oldestUs, next.oldestUs),
    parts: stretch.parts + next.parts,
  }
}
