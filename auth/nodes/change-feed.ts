/**
 * Distributes changes of the nodes' memory. A change is written to the feed in its transaction, and returns when every
 * node has applied it or refuses requests. A single process writes nothing and does not wait.
 */

import type pg from 'pg'
import { inTransaction, type OpenTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { LeaseExpired } from '../record-cache.ts'

/**
 * Kind of a change, and the type of its ids.
 *
 * - `device`, `metric`, `account`, `tenant`: ids of the registries.
 * - `series`: numbers of devices with new ones. `series-removed`: numbers of series.
 * - `erase`: ids of jobs. `expired`: times before which days have expired
 *   (service/lifecycle/retention/retention-nodes.ts).
 * - `alert`, `alert-rule`, `alert-channel`: ids of rows.
 * - `station`, `decoder`, `accepted-from`, `hourly-view`, and `erased-mail`, after which nodes remove files of mails: no ids.
 */
export type ChangeKind =
  | 'device'
  | 'metric'
  | 'series'
  | 'series-removed'
  | 'account'
  | 'tenant'
  | 'station'
  | 'decoder'
  | 'accepted-from'
  | 'expired'
  | 'erase'
  | 'hourly-view'
  | 'alert'
  | 'alert-rule'
  | 'alert-channel'
  | 'erased-mail'

/** Reads possible changes into memory. Called again after it rejects. */
export type ApplyChange = (ids: readonly number[]) => Promise<void> | void

interface CommitOptions {
  pool: pg.Pool
  /** Time limit of PostgreSQL for each statement. */
  stepMs: number
  /** Number of an advisory lock that is taken first. */
  lock?: string
  /** Transaction of `begin`; by default a new one. */
  begun?: OpenTransaction | undefined
}

export interface ChangeFeed {
  /** False while memory may lack changes of others and must not admit requests. Cheap enough for each request. */
  isCurrent(): boolean
  /** Shortest remaining time of `isCurrent` in milliseconds; at most 0 if it is false. */
  currentForMs(): number
  /** Increases when `isCurrent` becomes true again: credentials of an earlier term may have been revoked since. */
  term(): number
  /** The transaction writes the change to the feed. */
  note(transaction: Transaction, kind: ChangeKind, ids?: readonly number[]): void
  /** Commits the work with its noted changes. Rejects as `inTransaction` does. */
  commit<Result>(options: CommitOptions, work: (transaction: Transaction) => Promise<Result>): Promise<Result>
  /**
   * Begins a transaction for a change that depends on memory: takes the lock of all such changes and waits until memory
   * has all earlier changes of others. Undefined for a single process, whose memory is always current.
   */
  begin(options: Omit<CommitOptions, 'begun'>): Promise<OpenTransaction | undefined>
  /** Resolves when every node that admits requests has applied all commits. */
  settle(): Promise<void>
  /** Kinds are applied in the order of these calls. */
  onChange(kind: ChangeKind, apply: ApplyChange): void
}

/** Feed of a single process. */
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

/** Throws LeaseExpired if `isCurrent` is false. */
export function requireCurrent(feed: Pick<ChangeFeed, 'isCurrent'>): void {
  if (!feed.isCurrent()) throw new LeaseExpired()
}
