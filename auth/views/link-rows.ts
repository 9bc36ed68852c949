/** Reads and writes links to views in PostgreSQL. Changes run in a transaction of `changeAccount` of their account. */

import { bug } from '../../store/limits/bug.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'

export interface LinkDetails {
  id: number
  viewId: number
  prefix: string
  createdMs: number
  expiresMs: number
  revokedMs: number | null
}

interface LinkRow {
  id: number
  view_id: number
  prefix: string
  created_at: Date
  expires_at: Date
  revoked_at: Date | null
}

const columns = 'id, view_id, prefix, created_at, expires_at, revoked_at'

/** Newest first, including ended ones until they are swept. */
export async function readLinks(database: Transaction, accountId: number): Promise<LinkDetails[]> {
  const { rows } = await database.query<LinkRow>(
    `SELECT ${columns} FROM view_links WHERE account_id = $1 ORDER BY id DESC`,
    [accountId],
  )
  return rows.map(detailsOf)
}

export interface NewLink {
  accountId: number
  viewId: number
  digest: Buffer
  prefix: string
  devices: readonly number[] | null
  createdMs: number
  expiresMs: number
}

export async function insertLink(transaction: Transaction, link: NewLink): Promise<LinkDetails> {
  const { accountId, viewId, digest, prefix, devices, createdMs, expiresMs } = link
  const { rows } = await transaction.query<LinkRow>(
    `INSERT INTO view_links (account_id, view_id, digest, prefix, devices, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, to_timestamp($6::float8 / 1000), to_timestamp($7::float8 / 1000)) RETURNING ${columns}`,
    [accountId, viewId, digest, prefix, devices, createdMs, expiresMs],
  )
  const [row] = rows
  if (row === undefined) throw bug('an insert gave no row')
  return detailsOf(row)
}

export async function countLiveLinks(transaction: Transaction, accountId: number, nowMs: number): Promise<number> {
  const { rows } = await transaction.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM view_links
     WHERE account_id = $1 AND revoked_at IS NULL AND expires_at > to_timestamp($2::float8 / 1000)`,
    [accountId, nowMs],
  )
  return rows[0]?.count ?? 0
}

/** Links to a dashboard show the devices of its changed panels. */
export async function setLinkDevices(
  transaction: Transaction,
  accountId: number,
  viewId: number,
  devices: readonly number[],
): Promise<void> {
  await transaction.query('UPDATE view_links SET devices = $3 WHERE view_id = $1 AND account_id = $2', [
    viewId,
    accountId,
    devices,
  ])
}

/** False if it is revoked already. */
export async function revokeLinkRow(
  transaction: Transaction,
  accountId: number,
  id: number,
  nowMs: number,
): Promise<boolean> {
  const { rowCount } = await transaction.query(
    `UPDATE view_links SET revoked_at = to_timestamp($3::float8 / 1000)
     WHERE id = $1 AND account_id = $2 AND revoked_at IS NULL`,
    [id, accountId, nowMs],
  )
  return rowCount === 1
}

/** Immutable owner of a link; undefined for an unknown digest and for a revoked link. */
export async function readLinkHolder(
  database: Transaction,
  digest: Buffer,
): Promise<{ id: number; accountId: number } | undefined> {
  const { rows } = await database.query<{ id: number; account_id: number }>(
    'SELECT id, account_id FROM view_links WHERE digest = $1 AND revoked_at IS NULL',
    [digest],
  )
  const [row] = rows
  return row && { id: row.id, accountId: row.account_id }
}

function detailsOf(row: LinkRow): LinkDetails {
  return {
    id: row.id,
    viewId: row.view_id,
    prefix: row.prefix,
    createdMs: row.created_at.getTime(),
    expiresMs: row.expires_at.getTime(),
    revokedMs: row.revoked_at?.getTime() ?? null,
  }
}
