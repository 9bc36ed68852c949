/** Files by id, as the objects of the interface: one query a page, and another when runs are not known yet. */

import type pg from 'pg'
import type { FileFacts, ListingIndex } from './listing-index.ts'
import type { Run } from './run-cache.ts'

export interface FilesRead {
  /** Of the data that the files were read from. */
  version: string
  files: readonly FileRow[]
}

/** The columns as they are; the object has more, and another order. */
export interface FileRow {
  id: number
  run_id: number
  feature_set_id: number
  key: string
  uid: string | null
  title: string | null
  description: string | null
  require_summaries: boolean
  url: string | null
  content_type: string
  content_title: string | null
  content_author: string | null
  content_language: string | null
  checksum: string | null
  image_src: string | null
  file_type: string | null
  file_extension: string | null
  edx_module_id: string | null
  summary: string
  flashcards: unknown[]
}

/** Of a `FileRow`, from `content_files file`. */
export const fileColumns = `file.id::float8 AS id, run_id::float8 AS run_id, feature_set_id, key, uid, title,
    description, require_summaries, url, content_type, content_title, content_author, content_language, checksum, image_src,
    file_type, file_extension, edx_module_id, summary, flashcards`

/**
 * The version comes with each row, and alone where there are none. The statement has no name: a plan that was kept from
 * when there were few files would pass by all of them, and a pooler may not know it.
 */
const filesSql = `
  SELECT version::text, ${fileColumns}
  FROM content_version
    LEFT JOIN (unnest($1::bigint[]) AS wanted (id) JOIN content_files file USING (id)) ON file.published`

/** Those that are published, in the order of the ids. */
export async function readFiles(pool: pg.Pool, ids: readonly number[]): Promise<FilesRead> {
  type Row = { version: string } & (FileRow | { id: null })
  const { rows } = await pool.query<Row>(filesSql, [ids])
  // A sort there copies every file once more: a page of 100 takes PostgreSQL a tenth longer.
  const found = new Map(rows.map(row => [row.id, row as FileRow]))
  const files = ids.map(id => found.get(id)).filter(file => file !== undefined)
  return { version: rows[0]?.version ?? '', files }
}

export function factsOf(file: FileRow): FileFacts {
  return { runId: file.run_id, setId: file.feature_set_id, moduleId: file.edx_module_id }
}

/** In the order of the interface. */
export function objectOf(file: FileRow, run: Run, index: Pick<ListingIndex, 'featureTypesOf'>): object {
  return {
    id: file.id,
    run_id: run.id,
    run_title: run.title,
    run_slug: run.slug,
    departments: run.departments,
    semester: run.semester,
    year: run.year,
    topics: run.topics,
    key: file.key,
    uid: file.uid,
    title: file.title,
    description: file.description,
    require_summaries: file.require_summaries,
    url: file.url,
    content_feature_type: index.featureTypesOf(file.feature_set_id),
    content_type: file.content_type,
    content_title: file.content_title,
    content_author: file.content_author,
    content_language: file.content_language,
    checksum: file.checksum,
    image_src: file.image_src,
    resource_id: run.resourceId,
    resource_readable_id: run.resourceReadableId,
    course_number: run.courseNumbers,
    file_type: file.file_type,
    file_extension: file.file_extension,
    offered_by: run.unit,
    platform: run.platform,
    run_readable_id: run.readableId,
    edx_module_id: file.edx_module_id,
    summary: file.summary,
    flashcards: file.flashcards,
  }
}
