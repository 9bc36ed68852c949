/** The journals that QuestDB has to know, as recorded in PostgreSQL. */

import type pg from 'pg'

export interface KnownJournal {
  readonly id: string
  /** Time of the oldest row when its first position was written. */
  readonly sinceMs: number
  /** For a topic. */
  readonly committed: number
  readonly committedMs: number
  /** QuestDB was empty when its first position was written. */
  readonly beganEmpty: boolean
}

export type Database = Pick<pg.Pool, 'query'>

const answerMsMax = 4000

/** By name. */
export async function readKnownJournals(database: Database): Promise<Map<string, KnownJournal>> {
  const { rows } = await database.query<KnownJournal & { journal: string }>({
    text: readSql,
    query_timeout: answerMsMax,
  } as pg.QueryConfig)
  return new Map(rows.map(({ journal, ...known }) => [journal, known]))
}

/** Rejects when another process has inserted it meanwhile. */
export async function noteKnownJournal(
  database: Database,
  name: string,
  { id, sinceMs, beganEmpty }: Pick<KnownJournal, 'id' | 'sinceMs' | 'beganEmpty'>,
): Promise<void> {
  await database.query({
    text: 'INSERT INTO applied_journals (journal, id, since, began_empty) VALUES ($1, $2, to_timestamp($3), $4)',
    values: [name, id, sinceMs / 1000, beganEmpty],
    query_timeout: answerMsMax,
  } as pg.QueryConfig)
}

/** A pending rewind limits the committed offset: rows after it are sent again. */
const readSql = `SELECT journal, id, (extract(epoch FROM since) * 1000)::float8 AS "sinceMs",
    coalesce(CASE WHEN committed_offset > rewind_to THEN rewind_to ELSE committed_offset END, 0)::float8 AS committed,
    coalesce(extract(epoch FROM committed_at) * 1000, 0)::float8 AS "committedMs", began_empty AS "beganEmpty"
  FROM applied_journals LEFT JOIN replica_topics ON topic = journal`
