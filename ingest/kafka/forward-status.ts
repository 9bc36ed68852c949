/**
 * The status that the forwarding process publishes in PostgreSQL, beside the committed offset. It shows other processes which
 * rows are visible in QuestDB.
 */

import type pg from 'pg'
import type { ForwarderStatus } from '../forwarder/forwarder-status.ts'
import type { SpoolStatus } from './spool-status.ts'
import { replicaOfSql } from './topic-names.ts'

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
  /** Why its replica must be replaced by a copy of another one. Null while it is in use. */
  lost: string | null
  /** Difference found by the last comparison. Null without one. */
  differs: string | null
}

/** By state key, for each topic ever forwarded to a replica. */
export async function readPublished(database: {
  query(query: pg.QueryConfig): Promise<pg.QueryResult>
}): Promise<Map<string, PublishedStatus>> {
  const { rows } = await database.query({ text: publishedSql, query_timeout: answerMsMax } as pg.QueryConfig)
  return new Map(rows.map(({ topic, status, ...row }) => [topic, { ...status, ...row }]))
}

const answerMsMax = 2000
const publishedSql = `SELECT topic, coalesce(committed_offset, 0)::float8 AS committed, lost, differs, status
  FROM replica_topics LEFT JOIN replicas ON number = ${replicaOfSql('topic')} WHERE status IS NOT NULL`
