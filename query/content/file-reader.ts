/** Files by id: one query a page. */

import type pg from 'pg'
import type { FileRow } from './file-text.ts'

export interface FilesRead {
  /** Version of the data that the files were read from. */
  version: string
  files: readonly FileRow[]
}

/** The columns of a `FileRow`, from `content_files file`. */
export const fileColumns = `file.id::float8 AS id, run_id::float8 AS "runId", feature_set_id AS "setId",
    own_fields::text AS own`

/**
 * Each row includes the version. Without rows, one row has the version alone. The statement has no name: a plan cached
 * while there were few files would scan all of them, and a pooler may not know the name.
 */
const filesSql = `
  SELECT version::text, ${fileColumns}
  FROM content_version
    LEFT JOIN (unnest($1::bigint[]) AS wanted (id) JOIN content_files file USING (id)) ON file.published`

/** Returns published files, in the order of the ids. */
export async function readFiles(pool: pg.Pool, ids: readonly number[]): Promise<FilesRead> {
  type Row = { version: string } & (FileRow | { id: null })
  const { rows } = await pool.query<Row>(filesSql, [ids])
  // Sorting in SQL copies every file once more: a page of 100 takes PostgreSQL a tenth longer.
  const found = new Map(rows.map(row => [row.id, row as FileRow]))
  const files = ids.map(id => found.get(id)).filter(file => file !== undefined)
  return { version: rows[0]?.version ?? '', files }
}
