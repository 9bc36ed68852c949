/**
 * Writes every content file as a line that an import takes. Lines are ordered by id, so the same files give the same
 * bytes.
 */

import type pg from 'pg'
import { type FileRow, fileColumns, fileText } from './file-text.ts'
import { createRunCache } from './run-cache.ts'

const filesPerPage = 200
/** A page ends behind the file that exceeds this, because texts may be long. */
const pageBytesMax = 1 << 20

const pageSql = `
  SELECT ${fileColumns}, published, content,
    to_char(created_on AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS created_on
  FROM (
    SELECT *, sum(bytes) OVER (ORDER BY id) - bytes AS bytes_before
    FROM (
      SELECT files.*, content, octet_length(concat(content, own_fields)) AS bytes
      FROM content_files files LEFT JOIN content_texts ON file_id = files.id
      WHERE id > $1 ORDER BY id LIMIT ${filesPerPage}
    ) next
  ) file
  WHERE bytes_before <= ${pageBytesMax}
  ORDER BY file.id`

type ExportRow = FileRow & { created_on: string; published: boolean; content: string | null }

/** Yields some lines at a time and checks `isClosed` between them. */
export async function* exportLines(pool: pg.Pool, isClosed: () => boolean): AsyncGenerator<string> {
  const runs = createRunCache(pool)
  const featureTypesOf = createFeatureTypes(pool)
  for (let after = 0; ; ) {
    if (isClosed()) throw new Error('service is shutting down')
    const { rows } = await pool.query<ExportRow>(pageSql, [after])
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.id
    const runsOfPage = await runs.get(rows.map(file => file.runId))
    const sets = await featureTypesOf(rows.map(file => file.setId))
    const lines = rows.map(file => {
      const run = runsOfPage.get(file.runId)
      // Runs are never removed, so each file has one.
      if (run === undefined) throw new Error(`unknown run ${file.runId}`)
      const { created_on, published, content } = file
      const shown = fileText(file, run, sets.get(file.setId) ?? [])
      return `${shown.slice(0, -1)},${JSON.stringify({ created_on, published, content }).slice(1)}\n`
    })
    yield lines.join('')
  }
}

const setsSql = `SELECT id, ARRAY(
    SELECT name FROM content_feature_types type WHERE type.id = ANY (feature_type_ids) ORDER BY name COLLATE "C"
  )::text[] AS names
  FROM content_feature_sets WHERE id = ANY ($1)`

/** Lists of feature types by id. They never change, so each is read once. */
function createFeatureTypes(pool: pg.Pool): (ids: readonly number[]) => Promise<ReadonlyMap<number, string[]>> {
  const known = new Map<number, string[]>()
  return async ids => {
    const missing = new Set(ids.filter(id => !known.has(id)))
    if (missing.size === 0) return known
    const { rows } = await pool.query<{ id: number; names: string[] }>(setsSql, [[...missing]])
    for (const { id, names } of rows) known.set(id, names)
    return known
  }
}
