/**
 * Changes of what the nodes of a service hold in memory. Who makes one writes it to the feed in its transaction, and answers
 * when every node has applied it, or lets nobody in any more. A service that is alone writes nothing and waits for nobody.
 */

import type pg from 'pg'
import { inTransaction, type OpenTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { LeaseExpired } from '../record-cache.ts'

/**
 * What was changed, and what its ids are: `device`, `metric`, `account` and `tenant` those of the registries, `series` numbers
 * of devices that have got some, `series-removed` numbers of series, `erase` those of erase jobs, `expired` moments before which days
 * have expired, as service/lifecycle/retention/retention-nodes.ts writes them, `alert`, `alert-rule` and `alert-channel` those of the rows.
 * `station`, `accepted-from`, `hourly-view` and `erased-mail`, after which each node removes files of mails, have none.
 */
export type ChangeKind =
  | 'device'
  | 'metric'
  | 'series'
  | 'series-removed'
  | 'account'
  | 'tenant'
  | 'station'
  | 'accepted-from'
  | 'expired'
  | 'erase'
  | 'hourly-view'
  | 'alert'
  | 'alert-rule'
  | 'alert-channel'
  | 'erased-mail'

/** Reads into memory what others may have changed. Called again after it rejects. */
export type ApplyChange = (ids: readonly number[]) => Promise<void> | void

interface CommitOptions {
  pool: pg.Pool
  /** How long PostgreSQL may take for each statement. */
  stepMs: number
  /** The number of an advisory lock that is taken first. */
  lock?: string
  /** That of `begin`; without it one is begun. */
  begun?: OpenTransaction | undefined
}

export interface ChangeFeed {
  /**
   * False while this node may lack changes that others have answered: then nobody is let in by what is in memory. Cheap enough
   * for each request.
   */
  isCurrent(): boolean
  /** How long `isCurrent` stays true at least, milliseconds; not above 0 when it is false. */
  currentForMs(): number
  /** Grows when `isCurrent` becomes true again: what was let in in an earlier term may have been revoked since. */
  term(): number
  /** The change is written to the feed with the transaction. */
  note(transaction: Transaction, kind: ChangeKind, ids?: readonly number[]): void
  /** Commits the work with what it has noted. Rejects as `inTransaction` does. */
  commit<Result>(options: CommitOptions, work: (transaction: Transaction) => Promise<Result>): Promise<Result>
  /**
   * Begins a transaction for a change that rests on what is in memory: with the lock of all such changes, and after all that others
   * have changed before is in memory. Undefined for a service that is alone: there, memory is always right.
   */
  begin(options: Omit<CommitOptions, 'begun'>): Promise<OpenTransaction | undefined>
  /** Resolves when all that is committed is applied by every node that lets somebody in. */
  settle(): Promise<void>
  /** Kinds are applied in the order in which they are told here. */
  onChange(kind: ChangeKind, apply: ApplyChange): void
}

/** Of a service that is alone on its database. */
export const noFeed: ChangeFeed = {
  isCurrent: () => true,
  currentForMs: () => Number.POSITIVE_INFINITY,
  term: () => 0,
  note: () => undefined,
  commit: ({ pool, begun: _, ...options }, work) => inTransaction(pool, options, work),
  begin: async () => undefined,
  settle: async () => undefined,
  onChange: () => undefined,
}

/** Throws LeaseExpired where `isCurrent` is false. */
export function requireCurrent(feed: Pick<ChangeFeed, 'isCurrent'>): void {
  if (!feed.isCurrent()) throw new LeaseExpired()
}
