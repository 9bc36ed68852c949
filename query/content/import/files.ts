/** Merges the files of a batch into the store: it adds new ones, changes different ones and leaves the others alone. */

import type { Transaction } from '../../../store/postgres/transaction.ts'

export interface Merged {
  added: number
  changed: number
}

/** Columns that the table stores unchanged. */
const lineColumns = { published: 'boolean', edx_module_digest: 'bytea' }
const keyColumns = { id: 'bigint', run_id: 'bigint', created_on: 'timestamptz' }

const comparedNames = [...Object.keys(lineColumns), 'created_on', 'feature_set_id']
const tableNames = ['id', 'run_id', 'key_digest', ...comparedNames, 'own_fields']

function typed(columns: Record<string, string>): string {
  return Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')
}

function listed(names: readonly string[], prefix = ''): string {
  return names.map(name => prefix + name).join(', ')
}

/** The connection reuses it for every batch, because creating a table writes to the catalogs. */
const incomingSql = `CREATE TEMP TABLE IF NOT EXISTS content_incoming (${typed({ ...keyColumns, ...lineColumns })},
  key_digest bytea, feature_set_id integer, own_fields json, content text, is_new boolean, differs boolean, text_differs boolean)
  ON COMMIT DELETE ROWS`

/** The sequence stays ahead of requested ids, so it never hands out one of them. */
const sequenceSql = `SELECT setval('content_files_id_seq', $1) FROM content_files_id_seq WHERE last_value <= $1`

/**
 * Future rows beside the existing ones. A missing time is the file's existing time. Of several new files that request
 * one id, the first gets it if it is free.
 */
const loadSql = `INSERT INTO content_incoming (${listed(tableNames)}, content, is_new, differs, text_differs)
  SELECT coalesce(old_id, CASE WHEN is_first AND is_free THEN id END, nextval('content_files_id_seq')),
    run_id, key_digest, ${listed(comparedNames)}, own_fields, content, old_id IS NULL,
    old_id IS NOT NULL AND ((${listed(comparedNames)}, own_fields::text) IS DISTINCT FROM
      (${listed(comparedNames, 'old_')}, old_own_fields::text)), content IS DISTINCT FROM old_content
  FROM (
    SELECT new.id, new.run_id, content_digest(new.key) AS key_digest, ${listed(Object.keys(lineColumns), 'new.')},
      coalesce(new.created_on, old.created_on, now()) AS created_on, ($2::integer[])[new.feature_set + 1] AS feature_set_id,
      new.own_fields, new.content, old.id AS old_id, old.own_fields AS old_own_fields, texts.content AS old_content,
      ${comparedNames.map(name => `old.${name} AS old_${name}`).join(', ')},
      row_number() OVER (PARTITION BY old.id IS NULL, new.id ORDER BY new.place) = 1 AS is_first,
      NOT EXISTS (SELECT FROM content_files taken WHERE taken.id = new.id) AS is_free
    FROM json_to_recordset($1::json) AS new(${typed({ ...keyColumns, ...lineColumns })},
      place integer, key text, feature_set integer, own_fields json, content text)
    LEFT JOIN content_files old ON old.run_id = new.run_id AND old.key_digest = content_digest(new.key)
    LEFT JOIN content_texts texts ON texts.file_id = old.id
    ORDER BY new.place
  ) AS files`

const countSql = `SELECT count(*) FILTER (WHERE is_new) AS added, count(*) FILTER (WHERE differs) AS differing,
  count(*) FILTER (WHERE text_differs) AS texts, count(*) FILTER (WHERE NOT is_new AND (differs OR text_differs)) AS changed
  FROM content_incoming`

const insertSql = `INSERT INTO content_files (${listed(tableNames)})
  SELECT ${listed(tableNames)} FROM content_incoming WHERE is_new`

const updateSql = `UPDATE content_files old SET ${[...comparedNames, 'own_fields'].map(name => `${name} = new.${name}`).join(', ')}
  FROM content_incoming new WHERE old.id = new.id AND new.differs`

const textsSql = `INSERT INTO content_texts (file_id, content)
  SELECT id, content FROM content_incoming WHERE text_differs AND content IS NOT NULL
  ON CONFLICT (file_id) DO UPDATE SET content = excluded.content`

const removedTextsSql = `DELETE FROM content_texts USING content_incoming
  WHERE file_id = id AND text_differs AND content_incoming.content IS NULL`

export interface Files {
  /** A JSON array of rows, as `batch.ts` makes them. */
  rows: Uint8Array
  /** Ids of the lists of feature types, by index. */
  featureSetIds: readonly number[]
  highestId: number
}

/** A statement without a change would still raise the data version, so only statements with changes run. */
export async function mergeFiles(transaction: Transaction, { rows, featureSetIds, highestId }: Files): Promise<Merged> {
  await transaction.query(incomingSql)
  await transaction.query(sequenceSql, [highestId])
  await transaction.query(loadSql, [Buffer.from(rows.buffer, rows.byteOffset, rows.length), featureSetIds])
  const { rows: counts } =
    await transaction.query<Record<'added' | 'differing' | 'texts' | 'changed', string>>(countSql)
  const count = (name: 'added' | 'differing' | 'texts' | 'changed') => Number(counts[0]?.[name])
  if (count('added') > 0) await transaction.query(insertSql)
  if (count('differing') > 0) await transaction.query(updateSql)
  if (count('texts') > 0) {
    await transaction.query(textsSql)
    await transaction.query(removedTextsSql)
  }
  return { added: count('added'), changed: count('changed') }
}

/** Unpublishes or removes files by their names: run and key, or id. */
export const nameActions = ['unpublish', 'remove'] as const
export type NameAction = (typeof nameActions)[number]

interface Changed {
  changed: number
  /** Names without a file. */
  unknown: number
}

/** Each name with its file, if there is one. */
const namedSql = `SELECT files.id, files.published FROM json_to_recordset($1::json) AS name(id bigint, run_id bigint, key text)
  LEFT JOIN content_files files ON files.id = coalesce(name.id, (SELECT keyed.id FROM content_files keyed
    WHERE keyed.run_id = name.run_id AND keyed.key_digest = content_digest(name.key)))`

const changeSql: Record<NameAction, string> = {
  unpublish: 'UPDATE content_files SET published = false WHERE id = ANY($1::bigint[])',
  remove: 'DELETE FROM content_files WHERE id = ANY($1::bigint[])',
}

export async function changeNamed(transaction: Transaction, action: NameAction, names: Uint8Array): Promise<Changed> {
  const parameter = Buffer.from(names.buffer, names.byteOffset, names.length)
  const { rows } = await transaction.query<{ id: string | null; published: boolean | null }>(namedSql, [parameter])
  const found = rows.filter(row => row.id !== null)
  const ids = new Set(found.filter(row => action === 'remove' || row.published).map(row => row.id))
  // A statement without a change would still raise the data version.
  if (ids.size > 0) await transaction.query(changeSql[action], [[...ids]])
  return { changed: ids.size, unknown: rows.length - found.length }
}
