/** Reads and writes the rows of tenants, and caches their state. */

import type pg from 'pg'
import { hasEnded, type Transaction } from '../../store/postgres/transaction.ts'
import type { ChangeFeed } from '../nodes/change-feed.ts'
import { createRecordCache, type RecordCache } from '../record-cache.ts'
import type { TenantDetails } from './tenant.ts'

interface TenantState {
  isActive: boolean
}

export type TenantMemory = RecordCache<number, TenantState>

const tenantsInMemoryMax = 10_000

export function createTenantMemory(pool: pg.Pool, stepMs: number, feed: ChangeFeed): TenantMemory {
  const records = createRecordCache<number, TenantState>({
    recordsMax: tenantsInMemoryMax,
    async read(id) {
      const { rows } = await pool.query<{ is_active: boolean }>('SELECT is_active FROM tenants WHERE id = $1', [id])
      const [row] = rows
      return row && { isActive: row.is_active }
    },
    hasEnded: transaction => hasEnded(pool, transaction, stepMs),
    isCurrent: feed.isCurrent,
  })
  feed.onChange('tenant', ids => ids.forEach(records.forget))
  return records
}

export interface TenantRow {
  id: number
  slug: string
  name: string
  is_active: boolean
  created_at: Date
  secret: Buffer
  previous_secret: Buffer | null
  previous_ends_at: Date | null
}

const columns = 'id, slug, name, is_active, created_at, secret, previous_secret, previous_ends_at'

export async function readTenant(database: Transaction, slug: string): Promise<TenantRow | undefined> {
  const { rows } = await database.query<TenantRow>(`SELECT ${columns} FROM tenants WHERE slug = $1`, [slug])
  return rows[0]
}

/** Locks the row until the end of the transaction. */
export async function lockTenant(transaction: Transaction, slug: string): Promise<TenantRow | undefined> {
  const text = `SELECT ${columns} FROM tenants WHERE slug = $1 FOR NO KEY UPDATE`
  const { rows } = await transaction.query<TenantRow>(text, [slug])
  return rows[0]
}

export async function readTenants(database: Transaction, offset: number, rowsMax: number): Promise<TenantRow[]> {
  const text = `SELECT ${columns} FROM tenants ORDER BY slug LIMIT $1 OFFSET $2`
  return (await database.query<TenantRow>(text, [rowsMax, offset])).rows
}

export async function countTenants(database: Transaction): Promise<number> {
  const { rows } = await database.query<{ count: number }>('SELECT count(*)::int AS count FROM tenants')
  return rows[0]?.count ?? 0
}

/** The encryption of its secret includes the id, so it is reserved before the insert. */
export async function nextTenantId(transaction: Transaction): Promise<number> {
  const text = "SELECT nextval(pg_get_serial_sequence('tenants', 'id'))::int AS id"
  const { rows } = await transaction.query<{ id: number }>(text)
  const [row] = rows
  if (row === undefined) throw new Error('a sequence gives a number')
  return row.id
}

interface InsertedTenant {
  id: number
  slug: string
  name: string
  secret: Buffer
  nowMs: number
}

export async function insertTenant(transaction: Transaction, tenant: InsertedTenant): Promise<TenantRow> {
  const { id, slug, name, secret, nowMs } = tenant
  const { rows } = await transaction.query<TenantRow>(
    `INSERT INTO tenants (id, slug, name, secret, created_at, updated_at)
     SELECT $1, $2, $3, $4, at, at FROM (SELECT to_timestamp($5::float8 / 1000) AS at) AS clock
     RETURNING ${columns}`,
    [id, slug, name, secret, nowMs],
  )
  return only(rows)
}

/** Expects a locked row. */
export async function saveTenant(transaction: Transaction, tenant: TenantRow, nowMs: number): Promise<TenantRow> {
  const { id, name, is_active, secret, previous_secret, previous_ends_at } = tenant
  const { rows } = await transaction.query<TenantRow>(
    `UPDATE tenants SET name = $2, is_active = $3, secret = $4, previous_secret = $5, previous_ends_at = $6,
       updated_at = to_timestamp($7::float8 / 1000)
     WHERE id = $1 RETURNING ${columns}`,
    [id, name, is_active, secret, previous_secret, previous_ends_at, nowMs],
  )
  return only(rows)
}

function only(rows: TenantRow[]): TenantRow {
  const [row] = rows
  if (row === undefined) throw new Error('a change gives a row')
  return row
}

export function tenantDetails(row: TenantRow, nowMs: number): TenantDetails {
  const { slug, name, is_active, created_at, previous_ends_at } = row
  const isEnded = previous_ends_at === null || previous_ends_at.getTime() <= nowMs
  return {
    slug,
    name,
    is_active,
    created_at: created_at.toISOString(),
    old_secret_until: isEnded ? null : previous_ends_at.toISOString(),
  }
}
