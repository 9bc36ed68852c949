/** The two databases: external or managed, ready to use, and stopped again. */

import type pg from 'pg'
import { openPostgres } from './postgres/postgres.ts'
import { openQuestdb, type Questdb } from './questdb/questdb.ts'
import type { StoreOptions } from './store-options.ts'

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
