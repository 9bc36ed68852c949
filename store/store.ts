/** Opens QuestDB and PostgreSQL, external or managed, and closes them. */

import type pg from 'pg'
import { openPostgres } from './postgres/postgres.ts'
import { openQuestdb, type Questdb } from './questdb/questdb.ts'
import type { StoreOptions } from './store-options.ts'

export interface Store {
  /** Pool on the migrated schema, with a statement timeout. */
  postgres: pg.Pool
  /** Reason why PostgreSQL is unavailable. Undefined while it is available. */
  postgresFault(): string | undefined
  questdb: Questdb
  /** A separate connection without time limits, for long work. The caller ends it. */
  connectPostgres(): Promise<pg.Client>
  versions(): { postgres: string; questdb: string | undefined; java: string | undefined }
  /** Closes the connections and stops the managed databases. Idempotent. */
  close(): Promise<void>
}

/** Resolves when PostgreSQL is migrated. QuestDB starts in parallel and may be ready later (`questdb.ready`). */
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
      connectPostgres: postgres.connect,
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
