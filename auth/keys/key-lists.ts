/** Lists the keys of an account, or of all. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { Scope } from './key.ts'

/** A key without its secret. */
export interface KeyDetails {
  id: number
  name: string
  prefix: string
  scopes: readonly Scope[]
  createDevices: boolean
  tags: readonly string[]
  createdMs: number
  lastUsedMs: number | null
  expiresMs: number | null
  revokedMs: number | null
}

interface KeyRow {
  id: number
  digest: Buffer
  name: string
  prefix: string
  scopes: Scope[]
  create_devices: boolean
  tags: string[]
  created_at: Date
  last_used_at: Date | null
  expires_at: Date | null
  revoked_at: Date | null
}

/** Last use of a key in memory: PostgreSQL is updated later. */
export type LastUse = (digest: Buffer) => number | undefined

/** All keys of an account, newest first, including ended ones until they are swept. */
export async function readKeys(database: Transaction, accountId: number, lastUse: LastUse): Promise<KeyDetails[]> {
  const { rows } = await database.query<KeyRow>(
    `SELECT id, digest, name, prefix, scopes, create_devices, tags, created_at, last_used_at, expires_at, revoked_at
     FROM api_keys WHERE account_id = $1 ORDER BY id DESC`,
    [accountId],
  )
  return rows.map(row => detailsOf(row, lastUse))
}

/** A key for administrators. */
export interface OwnedKey extends KeyDetails {
  accountId: number
  email: string
}

export interface KeyPageQuery {
  /** Undefined for the keys of all. */
  accountId: number | undefined
  from: number
  rowsMax: number
}

export async function readKeyPage(
  database: Transaction,
  { accountId, from, rowsMax }: KeyPageQuery,
  lastUse: LastUse,
): Promise<{ owned: OwnedKey[]; total: number }> {
  const { rows: counted } = await database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM api_keys WHERE $1::int IS NULL OR account_id = $1',
    [accountId],
  )
  const { rows } = await database.query<KeyRow & { account_id: number; email: string }>(
    `SELECT api_keys.*, accounts.email FROM api_keys JOIN accounts ON accounts.id = account_id
     WHERE $1::int IS NULL OR account_id = $1
     ORDER BY api_keys.id DESC LIMIT $2 OFFSET $3`,
    [accountId, rowsMax, from],
  )
  const owned = rows.map(row => ({ ...detailsOf(row, lastUse), accountId: row.account_id, email: row.email }))
  return { owned, total: counted[0]?.count ?? 0 }
}

function detailsOf(row: KeyRow, lastUse: LastUse): KeyDetails {
  const { id, name, prefix, scopes, create_devices: createDevices, tags } = row
  return {
    id,
    name,
    prefix,
    scopes,
    createDevices,
    tags,
    createdMs: row.created_at.getTime(),
    // Another process may have noted a later use.
    lastUsedMs: laterOf(lastUse(row.digest) ?? null, timeOf(row.last_used_at)),
    expiresMs: timeOf(row.expires_at),
    revokedMs: timeOf(row.revoked_at),
  }
}

function laterOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other)
}

function timeOf(date: Date | null): number | null {
  return date === null ? null : date.getTime()
}
