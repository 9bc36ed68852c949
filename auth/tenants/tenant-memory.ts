/** Caches active tenants: each request of their users checks it. */

import type pg from 'pg'
import { hasEnded } from '../../store/postgres/transaction.ts'
import type { ChangeFeed } from '../nodes/change-feed.ts'
import { createRecordCache, type RecordCache } from '../record-cache.ts'

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
