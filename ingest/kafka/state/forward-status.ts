/**
 * The status that the forwarding process publishes in PostgreSQL, beside the committed offset. It shows other processes which
 * rows are visible in QuestDB.
 */

import type pg from 'pg'
import type { ForwarderStatus } from '../../forwarder/forwarder-status.ts'
import { replicaOfSql } from '../client/names.ts'

export interface ForwardStatus {
  /** Increases with each takeover of the replica. Published before its first request. */
  tenure: number
  /** Changes whenever records after the committed offset, or kept records, are sent again. */
  losses: number
  /** QuestDB shows all rows before this offset. */
  applied: number
  /** QuestDB had shown the rows before it at the takeover, and no loss was found since. */
  appliedBefore?: number | undefined
  /** The table contained every row before this offset as of this transaction. */
  sequenced?: { txn: number; offset: number } | undefined
  /** Its positions and ordinals refer to the spool. */
  forwarder: ForwarderStatus
  spool?: SpoolStatus | undefined
}

export interface PublishedStatus extends ForwardStatus {
  /** No row before this offset is sent again, by this process or a later one; 0 before the first commit. */
  committed: number
  /** Reason why its replica must be replaced by a copy of another one. Null while it is in use. */
  lost: string | null
  /** Difference found by the last comparison. Null without one. */
  differs: string | null
}

/** Keys are state keys. Each topic ever forwarded to a replica has one. */
export async function readPublished(database: {
  query(query: pg.QueryConfig): Promise<pg.QueryResult>
}): Promise<Map<string, PublishedStatus>> {
  const { rows } = await database.query({ text: publishedSql, query_timeout: answerMsMax } as pg.QueryConfig)
  return new Map(rows.map(({ topic, status, ...row }) => [topic, { ...status, ...row }]))
}

const answerMsMax = 2000
const publishedSql = `SELECT topic, coalesce(committed_offset, 0)::float8 AS committed, lost, differs, status
  FROM replica_topics LEFT JOIN replicas ON number = ${replicaOfSql('topic')} WHERE status IS NOT NULL`

export interface SpoolStatus {
  /** QuestDB shows all rows before this offset. */
  applied: number
  /** No row before this offset is sent again, by this process or a later one. */
  committable: number
  /** All records that this process has sent, or sends again, are at or after this offset. */
  kept: number
  /** The next group to be fetched. */
  next: number
  /** Range of the topic at the last fetch. */
  range: { start: number; end: number }
  /** The table contained every row before this offset as of this transaction. Undefined before QuestDB's first answer. */
  sequenced: { txn: number; offset: number } | undefined
  /** Dead letters in files: all rejected rows before `committable`, unless they were removed from there. */
  letters: number
  /** True when a part of the spool is damaged and therefore missing from `applied`. */
  isDamaged: boolean
  /** Invalid groups, and groups that the topic had deleted too early. */
  damagedGroups: number
  lostGroups: number
  /** End of the topic, if before fetched or committed offsets. */
  endsAt: number | undefined
  /** Reason why nothing is fetched at present. */
  issue: string | undefined
}

export type SpoolMessage =
  | { kind: 'status'; status: SpoolStatus }
  /** The last message. `mayHaveSentLate`: QuestDB may still accept rows of an abandoned request. */
  | { kind: 'closed'; mayHaveSentLate: boolean }

/** Channel for published states and confirmed erasures. */
export const publishedChannel = 'barograph_replica'

export interface PublishedState {
  /**
   * Increases with each takeover of the replica. Published before the first request, which begins to send uncommitted records
   * again.
   */
  readonly tenure: number
  /**
   * How often this process has sent uncommitted or kept records again since its takeover: QuestDB may have lost applied rows, or
   * received an older row after a newer one.
   */
  readonly losses: number
  /** No row before this offset is sent again, by this process or a later one. */
  readonly committed: number
  /** QuestDB shows all rows before this offset. */
  readonly applied: number
  /** QuestDB had shown the rows before it at the takeover, and no loss was found since. */
  readonly appliedBefore?: number | undefined
  /**
   * The table contained every row before this offset as of this transaction, including rows sent again. Undefined before
   * QuestDB's first answer.
   */
  readonly sequenced?: { readonly txn: number; readonly offset: number } | undefined
  /** Reason why the replica must be replaced by a copy of another one. */
  readonly lost?: string | null
  /** Difference found by the last comparison. */
  readonly differs?: string | null
}
