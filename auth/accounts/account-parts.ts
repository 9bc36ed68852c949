/** Declares the parts that the account service shares. */

import type pg from 'pg'
import type { Asker } from '../../store/limits/semaphore.ts'
import type { Log } from '../../store/log.ts'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import type { Devices } from '../devices/devices.ts'
import type { CodeGuesses } from '../grants/code-guesses.ts'
import type { ChangeFeed } from '../nodes/change-feed.ts'
import type { RateLimits } from '../rate-limits.ts'
import type { RecordCache } from '../record-cache.ts'
import type { Stations } from '../stations/stations.ts'
import type { TenantMemory } from '../tenants/tenant-rows.ts'
import type { Account } from './account.ts'
import { emailKeyOf } from './email-address.ts'
import type { LoginFailures } from './login-failures.ts'
import type { Passwords } from './passwords.ts'

export interface AccountParts {
  pool: pg.Pool
  nowMs: () => number
  log: Log
  passwords: Passwords
  memory: RecordCache<number, Account>
  tenantMemory: TenantMemory
  failures: LoginFailures
  limits: RateLimits
  devices: Pick<Devices, 'withHandOver'>
  stations: Pick<Stations, 'withHandOver'>
  codeGuesses: CodeGuesses
  feed: ChangeFeed
  /** Called when mail may be due. */
  mailDue: () => void
}

export interface Client {
  address: string
  /** The address, or the /64 of an IPv6 address. Limits count by it. */
  network: string
  userAgent: string | undefined
}

/** Names the asker of password work, whether or not the account exists. */
export function askerOf(email: string, { network }: Pick<Client, 'network'>): Asker {
  return { account: emailKeyOf(email), network }
}

const stepMs = 4_000

/** Changes one account: commits, then evicts it from the memory of every node before the call returns. */
export async function changeAccount<Result>(
  { pool, memory, feed }: AccountParts,
  id: number,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const result = await memory.change(id, () =>
    feed.commit({ pool, stepMs }, transaction => {
      feed.note(transaction, 'account', [id])
      return work(transaction)
    }),
  )
  await feed.settle()
  return result
}

/** A change of accounts that no memory has. */
export function inNewTransaction<Result>(
  { pool }: AccountParts,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, { stepMs }, work)
}
