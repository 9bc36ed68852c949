/** The options of both databases, declared once. */

import type { DataDirectory } from './data-directory.ts'
import type { Log } from './log.ts'
import type { LockMode } from './postgres/database-lock.ts'
import type { Environment } from './process/find-program.ts'
import type { CommitMode } from './questdb/questdb-settings.ts'
import type { StartError } from './start-error.ts'

export interface StoreOptions {
  directory: DataDirectory
  /** Addresses with credentials; without them a QuestDB is started here. */
  questdbHttp?: string | undefined
  questdbPg?: string | undefined
  /** Without it a PostgreSQL is started here. */
  databaseUrl?: string | undefined
  /** For our own QuestDB. */
  questdbCommitMode?: CommitMode | undefined
  /** The port on which our own QuestDB speaks the PostgreSQL protocol; with it there is a user who may only read. */
  questdbPgPort?: number | undefined
  /** By which our own QuestDB is restarted that gives no answer; without it the clock of the process that never steps. */
  monotonicMs?: (() => number) | undefined
  /** Where the QuestDB program is kept for all data directories of a user. */
  cacheDirectory: string
  /** The variables in which Java and Maven are looked for (PATH, JAVA_HOME) and with which they run. */
  environment: Environment
  migrationsFolder?: string | undefined
  /** No migration behind this one is applied; without it all are. */
  lastMigration?: string | undefined
  /**
   * For a service: `exclusive`, beside which no other may use the same PostgreSQL, or `shared`, a node, beside which other
   * nodes may. The start fails while one does that may not, and `onLost` is told when one has come in while PostgreSQL was
   * away. A reader that does not need the lock, such as a test, leaves it out.
   */
  lock?: { mode: LockMode; onLost: (error: StartError) => void } | undefined
  /** For a process without a lock, beside which services and nodes run: it applies migrations only while none of them does. */
  migratesAlone?: boolean | undefined
  /** Another process sees to the hourly view of an external QuestDB. */
  leavesHourlyView?: boolean | undefined
  /** Aborts a start in progress. */
  signal?: AbortSignal | undefined
  log: Log
}
