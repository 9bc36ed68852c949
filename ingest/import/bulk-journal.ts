/** The journal as bulk bodies have it: a part of it is left to single readings, which no backlog may keep out. */

import type { Ingest } from '../ingest.ts'
import type { JournalStatus } from '../journal/journal.ts'
import { piecesOf } from '../write-path.ts'

export interface BulkJournal {
  /** With `full` and `closing` nothing is stored, so that whoever sent the records sends all of them again. */
  append: Ingest['append']
  term: Ingest['term']
  /** Whether the journal takes so many bytes of bulk data now, of these shards where they are known. */
  hasRoom(bytes: number, shards?: Iterable<number>): boolean
}

/** Of the journal's limit. Half of it may hold what is kept for a QuestDB that does not sync. */
const bulkShare = 0.75

export function createBulkJournal({
  append,
  term: termNow,
  status,
  shardsOf,
}: Pick<Ingest, 'append' | 'term' | 'status' | 'shardsOf'>): BulkJournal {
  /** On their way to the journal. */
  let bytesPending = 0

  function hasRoom(bytes: number, shards: Iterable<number> = []): boolean {
    const { journal } = status()
    if (journal.issue !== undefined || journal.bytes + bytesPending + bytes > bulkShare * journal.bytesMax) return false
    return !isRefused(journal, shards)
  }

  /** The shards of the records, where it matters. */
  function concerned(records: Uint8Array): readonly number[] {
    const { refusing = [] } = status().journal
    return refusing.length === 0 ? [] : (shardsOf?.(records) ?? [])
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
      if (!hasRoom(records.length, concerned(records))) return 'full'
      bytesPending += records.length
      try {
        return await appendPieces(records, term)
      } finally {
        bytesPending -= records.length
      }
    },
  }
}

function isRefused({ refusing = [] }: Pick<JournalStatus, 'refusing'>, shards: Iterable<number>): boolean {
  if (refusing.length === 0) return false
  const asked = new Set(shards)
  return refusing.some(({ shard }) => asked.has(shard))
}
