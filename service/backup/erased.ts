/**
 * Keeps a backup from restoring erased data. The journal and QuestDB are copied before PostgreSQL, so a job that has
 * ended in between is done only in PostgreSQL. Therefore
 *
 * - the copied journal gets a tombstone for every series of any job, up to the end of the copy;
 * - jobs that were not done at the start of the backup and are done in PostgreSQL's copy are waiting after a restore.
 *
 * A job that has erased all rows and failed for damaged dead letters counts as done.
 */

import type pg from 'pg'
import { openDisk } from '../../ingest/journal/disk.ts'
import { erasedCustom } from '../../ingest/journal/record.ts'
import { Tombstones, tombstonesName } from '../../ingest/journal/tombstones.ts'

export type RowsOf = 'readings' | 'points'

export async function listDone(client: pg.ClientBase): Promise<number[]> {
  const { rows } = await client.query<{ id: number }>(
    "SELECT id::float8 FROM erase_jobs WHERE state IN ('done', 'failed') AND rows IS NOT NULL",
  )
  return rows.map(({ id }) => id)
}

/** Ids of jobs that are done now and were not before. */
export async function listDoneSince(client: pg.ClientBase, before: readonly number[]): Promise<number[]> {
  const known = new Set(before)
  return (await listDone(client)).filter(id => !known.has(id))
}

export async function eraseAgain(client: pg.ClientBase, ids: readonly number[]): Promise<void> {
  const text = "UPDATE erase_jobs SET state = 'waiting', finished_at = NULL, error = NULL WHERE id = ANY($1::bigint[])"
  await client.query(text, [ids])
}

/** Writes tombstones for the copy of a journal that ends at this position. Returns the name of the file, if needed. */
export async function writeTombstones(
  client: pg.ClientBase,
  folder: string,
  rowsOf: RowsOf,
  end: number,
): Promise<string | undefined> {
  const numbers = await readNumbers(client, rowsOf)
  // Records of readings have these values.
  if (rowsOf === 'readings') numbers.push(...(await readNumbers(client, 'measurements')).map(erasedCustom))
  if (numbers.length === 0) return undefined
  new Tombstones(openDisk(folder)).add(numbers, end)
  return tombstonesName
}

async function readNumbers(client: pg.ClientBase, rowsOf: RowsOf | 'measurements'): Promise<number[]> {
  const text = 'SELECT DISTINCT unnest(numbers) AS number FROM erase_jobs WHERE rows_of = $1'
  const { rows } = await client.query<{ number: number }>(text, [rowsOf])
  return rows.map(({ number }) => number)
}
