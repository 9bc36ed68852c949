/** Appends bulk bodies to the journal, and reserves a part of it for single readings, which a backlog must not block. */

import type { Ingest } from '../ingest.ts'

export interface BulkJournal {
  /** With `full` and `closing` nothing is stored, so that the sender sends all records again. */
  append: Ingest['append']
  term: Ingest['term']
  /** True when the journal accepts this many bytes of bulk data now. */
  hasRoom(bytes: number): boolean
}

/** Share of the journal's limit. Up to half of the journal may be segments kept for a QuestDB without sync. */
const bulkShare = 0.75

export function createBulkJournal({
  append,
  term: termNow,
  status,
}: Pick<Ingest, 'append' | 'term' | 'status'>): BulkJournal {
  /** Bytes being appended. */
  let bytesPending = 0

  function hasRoom(bytes: number): boolean {
    const { journal } = status()
    return journal.issue === undefined && journal.bytes + bytesPending + bytes <= bulkShare * journal.bytesMax
  }

  return {
    hasRoom,
    term: termNow,
    async append(records, term = termNow()) {
      if (records.length === 0) return 'stored'
      if (!hasRoom(records.length)) return 'full'
      bytesPending += records.length
      try {
        return await append(records, term)
      } finally {
        bytesPending -= records.length
      }
    },
  }
}
