/**
 * Cursors of events: the position in the journal before which a client has received all readings. They are valid in
 * every process that reads this journal.
 */

import { createHash } from 'node:crypto'

const digestDigits = 16
const positionPattern = /^(?:0|[1-9]\d{0,15})$/
const positionDigitsMax = 16

/**
 * A cursor begins with a digest of its journal, so that cursors of other journals, such as an earlier run's, are
 * recognized.
 */
export class EventCursors {
  readonly #digest: string

  constructor(journalId: string) {
    this.#digest = createHash('sha256').update(journalId).digest('hex').slice(0, digestDigits)
  }

  text(position: number): string {
    return `${this.#digest}-${position}`
  }

  /** Undefined for a text that is not a cursor of this journal. */
  read(text: string): number | undefined {
    if (text.length > digestDigits + 1 + positionDigitsMax || !text.startsWith(`${this.#digest}-`)) return undefined
    const digits = text.slice(digestDigits + 1)
    return positionPattern.test(digits) && Number.isSafeInteger(Number(digits)) ? Number(digits) : undefined
  }
}
