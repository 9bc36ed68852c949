/** The options of both databases, declared once. */

import type { DataDirectory } from './data-directory.ts'
import type { Log } from './log.ts'
import type { LockMode } from './postgres/database-lock.ts'
import type { Environment } from './process/find-program.ts'
import type { CommitMode } from './questdb/questdb-settings.ts'
import type { StartError } from './start-error.ts'

export interface StoreOptions {
  directory: DataDirectory
  /** Addresses with credentials. Without them a managed QuestDB is started. */
  questdbHttp?: string | undefined
  questdbPg?: string | undefined
  /** A managed PostgreSQL is started without it. */
  databaseUrl?: string | undefined
  /** Managed QuestDB only. */
  questdbCommitMode?: CommitMode | undefined
  /** PostgreSQL port of the managed QuestDB. It enables a read-only user. */
  questdbPgPort?: number | undefined
  /** Detects a managed QuestDB that does not answer, so that it is restarted. By default the monotonic clock of the process. */
  monotonicMs?: (() => number) | undefined
  /** Location of the QuestDB program, shared by all data directories of a user. */
  cacheDirectory: string
  /** Variables that locate Java and Maven (PATH, JAVA_HOME) and form their environment. */
  environment: Environment
  migrationsFolder?: string | undefined
  /** The last migration to apply. By default all are applied. */
  lastMigration?: string | undefined
  /**
   * Lock of a service: `exclusive` excludes all other users of the same PostgreSQL; `shared` is for nodes. The start
   * fails while a conflicting service runs. `onLost` is called when one started while PostgreSQL was unavailable. A
   * reader that does not need the lock, such as a test, omits it.
   */
  lock?: { mode: LockMode; onLost: (error: StartError) => void } | undefined
  /** A process without a lock, beside services and nodes, applies migrations only while these do not run. */
  migratesAlone?: boolean | undefined
  /** Another process maintains the hourly view of an external QuestDB. */
  leavesHourlyView?: boolean | undefined
  /** Aborts a start in progress. */
  signal?: AbortSignal | undefined
  log: Log
}
