/** Makes the notifications of all groups that are due, a transaction for each. */

import type pg from 'pg'
import type { Log } from '../../store/log.ts'
import { isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { postponeGroup, readDueGroups } from './due-groups.ts'
import { type Flushed, type FlushOptions, flushGroup } from './flush-group.ts'
import { reviewMs } from './next-due.ts'

export interface FlusherOptions extends Omit<FlushOptions, 'nowMs' | 'publicUrl'> {
  pool: pg.Pool
  log: Pick<Log, 'error'>
  nowMs: () => number
  leads: () => boolean
  requireLead: (transaction: Transaction) => Promise<void>
  publicUrl: () => string
}

/** In a run. */
const groupsMax = 100
/** The largest group is flushed in pieces of this size. */
const stepMs = 30_000

export interface FlushRun {
  /** For which notifications were made. */
  channels: readonly number[]
  /** True when more groups may be due. */
  hasMore: boolean
}

/** Flushes groups that were due at that time. Rejects while PostgreSQL is unavailable. Flushed groups stay flushed. */
export async function flushDue(options: FlusherOptions, dueMs: number): Promise<FlushRun> {
  const groups = await readDueGroups(options.pool, dueMs, groupsMax)
  const channels = new Set<number>()
  let count = 0
  for (const id of groups) {
    if (!options.leads()) break
    const flushed = await flushOrPostpone(options, id)
    if (flushed !== undefined) count++
    if (flushed?.channel !== undefined) channels.add(flushed.channel)
  }
  return { channels: [...channels], hasMore: count > 0 && groups.length === groupsMax }
}

/** A group whose notification cannot be created does not hold back other groups. */
async function flushOrPostpone(options: FlusherOptions, id: string): Promise<Flushed | undefined> {
  const { pool, log, nowMs, leads } = options
  try {
    return await flush(options, id)
  } catch (error) {
    if (isUnavailable(error) || !leads()) throw error
    log.error({ err: error, group: id }, 'no notification can be made of a group of alerts')
    await postponeGroup(pool, id, nowMs() + reviewMs)
    return { channel: undefined }
  }
}

async function flush(options: FlusherOptions, id: string): Promise<Flushed | undefined> {
  const { pool, requireLead, nowMs, publicUrl } = options
  return await inTransaction(pool, { stepMs }, async transaction => {
    await requireLead(transaction)
    return await flushGroup(transaction, id, { ...options, nowMs: nowMs(), publicUrl: publicUrl() })
  })
}
