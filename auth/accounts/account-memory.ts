/** Accounts in memory, as they decide who comes in: one of a tenant that is switched off is not active. */

import type pg from 'pg'
import { hasEnded } from '../../store/postgres/transaction.ts'
import type { ChangeFeed } from '../nodes/change-feed.ts'
import { createRecordCache, type RecordCache } from '../record-cache.ts'
import type { TenantMemory } from '../tenants/tenant-memory.ts'
import { type Account, readAccount } from './account.ts'

export interface AccountMemoryOptions {
  pool: pg.Pool
  nowMs: () => number
  tenantMemory: TenantMemory
  stepMs: number
  feed: ChangeFeed
}

const accountsInMemoryMax = 1_000_000

export function createAccountMemory(options: AccountMemoryOptions): RecordCache<number, Account> {
  const { pool, nowMs, tenantMemory, stepMs, feed } = options
  const records = createRecordCache<number, Account>({
    recordsMax: accountsInMemoryMax,
    read: id => readAccount(pool, id, nowMs()),
    hasEnded: transaction => hasEnded(pool, transaction, stepMs),
    isCurrent: feed.isCurrent,
  })
  feed.onChange('account', ids => ids.forEach(records.forget))
  return {
    change: records.change,
    forget: records.forget,
    peek(id) {
      const account = records.peek(id)
      if (account === undefined || account.tenantId === null) return account
      return tenantMemory.peek(account.tenantId)?.isActive === true ? account : undefined
    },
    async get(id) {
      for (;;) {
        const account = await records.get(id)
        if (account === undefined || account.tenantId === null) return account
        const tenant = await tenantMemory.get(account.tenantId)
        // The account may have been changed while its tenant was read.
        if ((await records.get(id)) !== account) continue
        return tenant?.isActive === true ? account : { ...account, isActive: false }
      }
    },
  }
}
