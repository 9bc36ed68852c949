/** The two databases: started here or reached at the address that was given, ready to use, and stopped again. */

import type pg from 'pg'
import type { DataDirectory } from './data-directory.ts'
import type { Log } from './log.ts'
import { openPostgres } from './postgres/postgres.ts'
import type { Environment } from './process/find-program.ts'
import { openQuestdb, type Questdb } from './questdb/questdb.ts'
import type { CommitMode } from './questdb/questdb-settings.ts'
import type { StartError } from './start-error.ts'

export interface Store {
  /** Up to date, with a statement timeout. */
  postgres: pg.Pool
  /** Why PostgreSQL does not answer; undefined while it does. */
  postgresFault(): string | undefined
  questdb: Questdb
  versions(): { postgres: string; questdb: string | undefined; java: string | undefined }
  /** Stops what was started here; may be called twice. */
  close(): Promise<void>
}

export interface StoreOptions {
  directory: DataDirectory
  /** Addresses with credentials; without them a QuestDB is started here. */
  questdbHttp?: string | undefined
  questdbPg?: string | undefined
  /** Without it a PostgreSQL is started here. */
  databaseUrl?: string | undefined
  /** For our own QuestDB. */
  questdbCommitMode?: CommitMode | undefined
  /** Where the QuestDB program is kept for all data directories of a user. */
  cacheDirectory: string
  /** The variables in which Java and Maven are looked for (PATH, JAVA_HOME) and with which they run. */
  environment: Environment
  migrationsFolder?: string | undefined
  /**
   * For a service, beside which no other may use the same PostgreSQL: the start fails while one does, and `onLost` is
   * told when one has come in while PostgreSQL was away. Who only reads along, as a test, goes without.
   */
  exclusive?: { onLost: (error: StartError) => void } | undefined
  /** Gives up a start that is under way. */
  signal?: AbortSignal | undefined
  log: Log
}

/** Resolves when PostgreSQL is up to date; QuestDB starts side by side and may need a little longer (`questdb.ready`). */
export async function openStore(options: StoreOptions): Promise<Store> {
  const giveUp = new AbortController()
  const signals = options.signal === undefined ? [giveUp.signal] : [giveUp.signal, options.signal]
  const signal = AbortSignal.any(signals)
  const opening = [openQuestdb(options, signal), openPostgres(options, signal)] as const
  try {
    const [questdb, postgres] = await Promise.all(opening)
    signal.throwIfAborted()
    let closed: Promise<unknown> | undefined
    return {
      postgres: postgres.pool,
      postgresFault: postgres.fault,
      questdb,
      versions: () => ({ postgres: postgres.version, questdb: questdb.version(), java: questdb.java }),
      async close() {
        closed ??= Promise.all([questdb.close(), postgres.close()])
        await closed
      },
    }
  } catch (error) {
    giveUp.abort()
    for (const opened of await Promise.allSettled(opening)) {
      if (opened.status === 'fulfilled') await opened.value.close()
    }
    throw error
  }
}
