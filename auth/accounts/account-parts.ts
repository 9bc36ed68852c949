/** What the parts of the account service share. */

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
import type { TenantMemory } from '../tenants/tenant-memory.ts'
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
  /** Told that mail may be due. */
  mailDue: () => void
}

/** Where a request comes from. */
export interface Client {
  address: string
  /** The address, or the /64 of one of IPv6: what limits count as one. */
  network: string
  userAgent: string | undefined
}

/** Whom a password is worked on for, whether or not there is such an account. */
export function askerOf(email: string, { network }: Pick<Client, 'network'>): Asker {
  return { account: emailKeyOf(email), network }
}

const stepMs = 4_000

/** A change of one account: committed, then forgotten in memory, at every node, before its call is answered. */
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

/** A change that no account in memory knows of yet. */
export function inNewTransaction<Result>(
  { pool }: AccountParts,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return inTransaction(pool, { stepMs }, work)
}
