/** A file as the interface shows it, in compact JSON. Stored and cached texts are joined unparsed. */

import type pg from 'pg'
import type { ContentFileLine } from './line.ts'
import type { Run } from './run-cache.ts'

/** The fields that a file shares with no other, as they are stored. */
export interface FileRow {
  id: number
  runId: number
  setId: number
  /** JSON of `OwnFields`, in their order. */
  own: string
}

/** Fields have the order of the interface. Shared fields come before the names in `cutBefore`. */
export const ownNames = [
  'key',
  'uid',
  'title',
  'description',
  'require_summaries',
  'url',
  'content_type',
  'content_title',
  'content_author',
  'content_language',
  'checksum',
  'image_src',
  'file_type',
  'file_extension',
  'edx_module_id',
  'summary',
  'flashcards',
] as const
export type OwnFields = Pick<ContentFileLine, (typeof ownNames)[number]>

/**
 * No value before these is an object or a list, and quotation marks within a text are escaped. So the first match is
 * the field.
 */
const cutBefore = { types: ',"content_type":', resource: ',"file_type":', offering: ',"edx_module_id":' }

export function fileText({ id, own }: FileRow, run: Run, featureTypes: readonly string[]): string {
  const types = own.indexOf(cutBefore.types)
  const resource = own.indexOf(cutBefore.resource, types)
  const offering = own.indexOf(cutBefore.offering, resource)
  const first = `{"id":${id},${run.runText},${own.slice(1, types)},"content_feature_type":${JSON.stringify(featureTypes)}`
  const middle = `${own.slice(types, resource)},${run.resourceText}${own.slice(resource, offering)}`
  return `${first}${middle},${run.offeringText}${own.slice(offering)}`
}

export function moduleIdOf({ own }: FileRow): string | null {
  return (JSON.parse(own) as OwnFields).edx_module_id
}

interface FilesRead {
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
