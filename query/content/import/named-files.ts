/** Unpublishes or removes files by their names: run and key, or id. */

import type { Transaction } from '../../../store/postgres/transaction.ts'

export const nameActions = ['unpublish', 'remove'] as const
export type NameAction = (typeof nameActions)[number]

export interface Changed {
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
