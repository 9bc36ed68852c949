/**
 * The claims whose records this process has stored. A request that is sent again finds its claim here, and is not stored a
 * second time: a listener to stored records would be told of it twice.
 */

import { LRUCache } from 'lru-cache'
import type { Outcome } from '../journal/outcome.ts'

export interface StoredClaims {
  /** Appends the records that the id stands for, unless they are stored or on their way. `append` may refuse to. */
  once<Refusal>(id: string, append: () => Promise<Outcome | Refusal>): Promise<Outcome | Refusal>
}

/** Records of a claim that is not held any more, as after a restart, are stored again and replace themselves. */
export function createStoredClaims(countMax: number): StoredClaims {
  const outcomes = new LRUCache<string, Promise<unknown>>({ max: countMax })
  return {
    async once(id, append) {
      for (let earlier = outcomes.get(id); earlier !== undefined; ) {
        if ((await earlier) === 'stored') return 'stored'
        const latest = outcomes.get(id)
        // Of those that waited for it, the first appends now, and the others wait for that one.
        earlier = latest === earlier ? undefined : latest
      }
      const outcome = append()
      const settled = outcome.catch(() => undefined)
      outcomes.set(id, settled)
      return await outcome
    },
  }
}
