/**
 * A low watermark of the rows sent since a transaction of the table: the time of the oldest. Results computed from the table as
 * of that transaction, such as its hours, include all rows before this time, and may lack later ones.
 */

import { OldestRows } from './oldest-rows.ts'

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

  /** Infinity when all rows are in the table as of this transaction. It never decreases, so earlier entries are dropped. */
  oldestSince(txn: number): number {
    this.#sequenced.forgetUpTo(txn)
    return Math.min(this.#unsequencedUs, this.#sequenced.oldestBehind(txn))
  }
}
