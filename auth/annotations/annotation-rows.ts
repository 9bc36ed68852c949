/** Reads and writes the rows of annotations, with the names of devices and authors. */

import { bug } from '../../store/limits/bug.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { Annotation } from './annotation.ts'

/** `deviceNumber` is null for all devices. */
export interface AnnotationRow extends Annotation {
  deviceNumber: number | null
}

interface Row {
  id: number
  device: number | null
  name: string | null
  from_at: Date
  until_at: Date | null
  text: string
  author: string | null
  written_at: Date
}

/** Annotations of a removed device are hidden: their rows stay until it is erased. */
const selection = `
  SELECT a.id, a.device, d.name, a.from_at, a.until_at, a.text, nullif(c.name, '') AS author, a.written_at
  FROM annotations a LEFT JOIN devices d ON d.number = a.device LEFT JOIN accounts c ON c.id = a.author
  WHERE d.removed_at IS NULL`

function annotationOf({ id, device, name, from_at, until_at, text, author, written_at }: Row): AnnotationRow {
  const at = { from: from_at.toISOString(), to: until_at?.toISOString() ?? null }
  return { id, device: name, deviceNumber: device, ...at, text, by: author, written_at: written_at.toISOString() }
}

/** Annotations of the device and of all devices within the window, ascending. */
export async function readOfDevice(
  database: Transaction,
  device: number,
  fromMs: number | undefined,
  toMs: number | undefined,
): Promise<AnnotationRow[]> {
  const { rows } = await database.query<Row>(
    `${selection} AND (a.device = $1 OR a.device IS NULL)
       AND ($2::float8 IS NULL OR coalesce(a.until_at, a.from_at + interval '1 microsecond') > to_timestamp($2::float8 / 1000))
       AND ($3::float8 IS NULL OR a.from_at < to_timestamp($3::float8 / 1000))
     ORDER BY a.from_at, a.id`,
    [device, fromMs ?? null, toMs ?? null],
  )
  return rows.map(annotationOf)
}

/** Newest first, limited to these devices unless undefined. */
export async function readPage(
  database: Transaction,
  devices: readonly number[] | undefined,
  { limit, after }: { limit: number; after?: number | undefined },
): Promise<AnnotationRow[]> {
  const { rows } = await database.query<Row>(
    `${selection} AND ($1::int[] IS NULL OR a.device = ANY($1::int[])) AND ($2::int IS NULL OR a.id < $2)
     ORDER BY a.id DESC LIMIT $3`,
    [devices === undefined ? null : [...devices], after ?? null, limit],
  )
  return rows.map(annotationOf)
}

export async function readAnnotation(database: Transaction, id: number): Promise<AnnotationRow | undefined> {
  const { rows } = await database.query<Row>(`${selection} AND a.id = $1`, [id])
  return rows[0] && annotationOf(rows[0])
}

/** Locks the row until the end of the transaction. */
export async function lockAnnotation(transaction: Transaction, id: number): Promise<AnnotationRow | undefined> {
  const { rows } = await transaction.query<Row>(`${selection} AND a.id = $1 FOR UPDATE OF a`, [id])
  return rows[0] && annotationOf(rows[0])
}

/** Keeps the device until the end of the transaction, so that no annotation follows the device's erasure. */
export async function lockDevice(transaction: Transaction, device: number): Promise<boolean> {
  const text = 'SELECT FROM devices WHERE number = $1 AND removed_at IS NULL FOR SHARE'
  return (await transaction.query(text, [device])).rowCount === 1
}

export async function countOfDevice(transaction: Transaction, device: number | null): Promise<number> {
  const text = 'SELECT count(*)::int AS count FROM annotations WHERE device IS NOT DISTINCT FROM $1::int'
  const { rows } = await transaction.query<{ count: number }>(text, [device])
  return rows[0]?.count ?? 0
}

export interface InsertedAnnotation {
  device: number | null
  from: string
  to: string | null
  text: string
  author: number | null
  nowMs: number
}

/** Returns its id. */
export async function insertAnnotation(transaction: Transaction, annotation: InsertedAnnotation): Promise<number> {
  const { device, from, to, text, author, nowMs } = annotation
  const { rows } = await transaction.query<{ id: number }>(
    `INSERT INTO annotations (device, from_at, until_at, text, author, written_at)
     VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000)) RETURNING id`,
    [device, from, to, text, author, nowMs],
  )
  const [row] = rows
  if (row === undefined) throw bug('an insert gave no row')
  return row.id
}

export async function saveAnnotation(
  transaction: Transaction,
  { id, from, to, text }: Pick<Annotation, 'id' | 'from' | 'to' | 'text'>,
): Promise<void> {
  const values = [id, from, to, text]
  await transaction.query('UPDATE annotations SET from_at = $2, until_at = $3, text = $4 WHERE id = $1', values)
}

export async function deleteAnnotation(transaction: Transaction, id: number): Promise<void> {
  await transaction.query('DELETE FROM annotations WHERE id = $1', [id])
}

/** Idempotent. */
export async function deleteOfDevices(database: Transaction, devices: readonly number[]): Promise<void> {
  await database.query('DELETE FROM annotations WHERE device = ANY($1::int[])', [[...devices]])
}
