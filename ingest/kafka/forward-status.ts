/**
 * What the process that forwards a topic publishes of it in PostgreSQL, beside the committed offset. Other processes learn from it
 * which rows can be seen in QuestDB.
 */

import type pg from 'pg'
import type { ForwarderStatus } from '../forwarder/forwarder-status.ts'
import type { SpoolStatus } from './spool-status.ts'
import { replicaOfSql } from './topic-names.ts'

export interface ForwardStatus {
  /** Rises with each process that takes the replica over. Published before its first request. */
  tenure: number
  /** Another number each time that what is behind the committed offset, or what is kept, is sent again. */
  losses: number
  /** QuestDB shows all rows before this offset. */
  applied: number
  /** It had shown those before this one when this process took the replica over, and is not found to have lost any since. */
  appliedBefore?: number | undefined
  /** Every row before this offset came into the table up to this transaction. */
  sequenced?: { txn: number; offset: number } | undefined
  /** Its positions and ordinals are those of the spool. */
  forwarder: ForwarderStatus
  spool?: SpoolStatus | undefined
}

export interface PublishedStatus extends ForwardStatus {
  /** No row before this offset is sent again, by this process or a later one; 0 before the first commit. */
  committed: number
  /** The reason why its replica has to be a new copy of another one before it is in use; null while it is in use. */
  lost: string | null
  /** The difference that the last comparison found; null for none. */
  differs: string | null
}

/** Of each topic that was forwarded to a replica at some time, by state key. */
export async function readPublished(database: {
  query(query: pg.QueryConfig): Promise<pg.QueryResult>
}): Promise<Map<string, PublishedStatus>> {
  const { rows } = await database.query({ text: publishedSql, query_timeout: answerMsMax } as pg.QueryConfig)
  return new Map(rows.map(({ topic, status, ...row }) => [topic, { ...status, ...row }]))
}

const answerMsMax = 2000
const publishedSql = `SELECT topic, coalesce(committed_offset, 0)::float8 AS committed, lost, differs, status
  FROM replica_topics LEFT JOIN replicas ON number = ${replicaOfSql('topic')} WHERE status IS NOT NULL`
