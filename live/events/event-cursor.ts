/**
 * Cursors of events: of each journal the position up to which a client has been told all readings. They mean the same in every process
 * that reads these journals.
 */

import { createHash } from 'node:crypto'

/** Of each journal, in the order of the shards. */
export type Positions = readonly number[]

const digestDigits = 16
const positionPattern = /^(?:0|[1-9]\d{0,15})$/
const positionDigitsMax = 16

/**
 * A cursor begins with a digest of the journals that it has positions of, so that one of other journals, as of an earlier run, is known as such.
 * It lacks the positions at its end that are 0, of journals of which nothing was told. So a shard that is added changes no cursor
 * before it has readings, and a client with a cursor from before is told them from the first one on.
 */
export class EventCursors {
  /** By the number of journals less 1. */
  readonly #digests: readonly string[]

  /** `journalIds`: at least one, of journals that only gain further ones at their end. */
  constructor(journalIds: readonly string[]) {
    this.#digests = journalIds.map((_, at) => digestOf(journalIds.slice(0, at + 1)))
  }

  text(positions: Positions): string {
    let count = positions.length
    while (count > 1 && positions[count - 1] === 0) count--
    const told = count === positions.length ? positions : positions.slice(0, count)
    return `${this.#digests[count - 1]}-${told.join('-')}`
  }

  /** As many positions as there are journals; undefined for a text that is no cursor of these. */
  read(text: string): Positions | undefined {
    const journals = this.#digests.length
    if (text.length > digestDigits + journals * (1 + positionDigitsMax)) return undefined
    const [digest, ...parts] = text.split('-')
    if (parts.length === 0 || digest !== this.#digests[parts.length - 1]) return undefined
    if (!parts.every(part => positionPattern.test(part) && Number.isSafeInteger(Number(part)))) return undefined
    return Array.from({ length: journals }, (_, at) => Number(parts[at] ?? 0))
  }
}

function digestOf(ids: readonly string[]): string {
  return createHash('sha256').update(ids.join('')).digest('hex').slice(0, digestDigits)
}

/** Of two positions in each journal the later one. */
export function laterOf(one: Positions, other: Positions | undefined): Positions {
  return other === undefined ? one : one.map((position, journal) => Math.max(position, other[journal] as number))
}
