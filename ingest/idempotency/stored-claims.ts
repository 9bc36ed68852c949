/**
 * The claims whose records are stored: those that this process has stored, and those that are marked in PostgreSQL. A request that is
 * sent again finds its claim here, and is not stored a second time: a listener to stored records would be told of it twice, and the
 * value of a reading that was replaced meanwhile would come back.
 */

import { LRUCache } from 'lru-cache'
import type { Outcome } from '../journal/outcome.ts'
import type { ClaimedKey } from './claim-group.ts'
import { markOf, type StoredMark } from './key-rows.ts'

export interface StoredClaims {
  /**
   * Appends the records of the claim, unless they are stored or on their way; `of` stands for their devices, at most 64 characters.
   * `append` may refuse to.
   */
  once<Refusal>(claim: ClaimedKey, of: string, append: () => Promise<Outcome | Refusal>): Promise<Outcome | Refusal>
}

/**
 * `mark` is called with what is to be marked in PostgreSQL, a moment later. Not a reading with a stamp: no other one has its time, so one that
 * is stored again replaces itself alone.
 */
export function createStoredClaims(countMax: number, mark: (mark: StoredMark) => void): StoredClaims {
  const outcomes = new LRUCache<string, Promise<unknown>>({ max: countMax })
  return {
    async once({ id: claimId, stampUs, row }, of, append) {
      if (row.storedAs === markOf(row, of)) return 'stored'
      const id = `${claimId} ${of}`
      for (let earlier = outcomes.get(id); earlier !== undefined; ) {
        if ((await earlier) === 'stored') return 'stored'
        const latest = outcomes.get(id)
        // Of those that waited for it, the first appends now, and the others wait for that one.
        earlier = latest === earlier ? undefined : latest
      }
      const outcome = append()
      const settled = outcome.catch(() => undefined)
      outcomes.set(id, settled)
      const became = await outcome
      if (became === 'stored' && stampUs === undefined) {
        mark({ writer: row.writer, keyDigest: row.keyDigest, storedAs: markOf(row, of) })
      }
      return became
    },
  }
}
