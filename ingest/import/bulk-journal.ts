/** The journal as bulk bodies have it: a part of it is left to single readings, which no backlog may keep out. */

import type { Ingest } from '../ingest.ts'
import { piecesOf } from '../write-path.ts'

export interface BulkJournal {
  /** With `full` and `closing` nothing is stored, so that whoever sent the records sends all of them again. */
  append: Ingest['append']
  term: Ingest['term']
  /** Whether the journal takes so many bytes of bulk data now. */
  hasRoom(bytes: number): boolean
}

/** Of the journal's limit. Half of it may hold what is kept for a QuestDB that does not sync. */
const bulkShare = 0.75

export function createBulkJournal({
  append,
  term: termNow,
  status,
}: Pick<Ingest, 'append' | 'term' | 'status'>): BulkJournal {
  /** On their way to the journal. */
  let bytesPending = 0

  function hasRoom(bytes: number): boolean {
    const { journal } = status()
    return journal.issue === undefined && journal.bytes + bytesPending + bytes <= bulkShare * journal.bytesMax
  }

  async function appendPieces(records: Uint8Array, term: number): ReturnType<BulkJournal['append']> {
    let isPartStored = false
    for (const piece of piecesOf(records)) {
      const outcome = await append(piece, term)
      // Something else took the room, or the service began to stop.
      if (outcome !== 'stored') return isPartStored ? 'unknown' : outcome
      isPartStored = true
    }
    return 'stored'
  }

  return {
    hasRoom,
    term: termNow,
    async append(records, term = termNow()) {
      if (records.length === 0) return 'stored'
      if (!hasRoom(records.length)) return 'full'
      bytesPending += records.length
      try {
        return await appendPieces(records, term)
      } finally {
        bytesPending -= records.length
      }
    },
  }
}
