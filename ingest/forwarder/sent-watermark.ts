/**
 * A low watermark of the rows sent since a transaction of the table: the time of the oldest. What is computed from the table up to that
 * transaction, such as its hours, has all rows before this time, and may lack some of those behind it.
 */

import { OldestRows } from './oldest-rows.ts'

/** Sent by the forwarder before the rows that it is about can be seen in the table. */
export type SentEvent =
  | {
      readonly kind: 'sent'
      /** The oldest row of those whose transaction is not known yet; Infinity when there are none. */
      readonly unsequencedUs: number
      /** Rows that have come into the table up to this transaction, by the oldest of them; all before the position have. */
      readonly sequenced?: { readonly txn: number; readonly oldestUs: number; readonly position: number }
    }
  /** The table may have lost what it had taken; everything is sent again. */
  | { readonly kind: 'lost'; readonly reason: string }

export class SentWatermark {
  /** By transaction. */
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

  /** Infinity when all rows came into the table up to this transaction. It never falls, so what is before it is forgotten. */
  oldestSince(txn: number): number {
    this.#sequenced.forgetUpTo(txn)
    return Math.min(this.#unsequencedUs, this.#sequenced.oldestBehind(txn))
  }
}
