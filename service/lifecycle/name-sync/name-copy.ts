/**
 * Keeps a copy of names in QuestDB, for who reads it there. Each change of the registry has a sequence number, so what is
 * missing is what PostgreSQL has after the highest one in QuestDB: nothing is compared, and nothing is kept here. One node copies for
 * all.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { createMutex } from '../../../store/limits/mutex.ts'
import type { Log } from '../../../store/log.ts'
import { createQuestdbClient, type QuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import type { Questdb } from '../../../store/questdb/questdb.ts'
import { untilTableApplied } from '../../../store/questdb/until-applied.ts'

export interface NameCopy {
  /**
   * Resolves when QuestDB has taken all names as they are at present, none of what was removed among them. Rejects where another
   * node may be copying.
   */
  sync(): Promise<void>
  close(): Promise<void>
}

/** What is copied, and where to. */
export interface NameSource<Name> {
  readonly table: string
  /** Makes the table where it is missing. */
  ensure(client: Pick<QuestdbClient, 'exec'>): Promise<void>
  /** Column of the sequence number. */
  readonly sequenceColumn: string
  /** Increases with each change. */
  version(): number
  /** The highest sequence number of a change that is committed, or a higher one. */
  sequence(): Promise<number>
  /** Those behind a sequence number, ascending. */
  namesSince(sequence: number, rowsMax: number): Promise<Name[]>
  sequenceOf(name: Name): number
  /** A row of line protocol, with its end. */
  rowOf(name: Name): string
}

export interface NameCopyOptions<Name> {
  source: NameSource<Name>
  questdb: Pick<Questdb, 'address' | 'state'>
  /** The number of the replica whose QuestDB it is; undefined where there is one alone. */
  replica?: number | undefined
  /** Whether this process is the one that copies. */
  leads?: () => boolean
  log: Pick<Log, 'warn'>
  checkEveryMs?: number
}

const timeoutMs = 30_000
const pollMs = 50
/** So many take the main thread some milliseconds. */
const rowsPerRequest = 1000

export function openNameCopy<Name>(options: NameCopyOptions<Name>): NameCopy {
  const { source, questdb, replica, leads = () => true, log, checkEveryMs = 2000 } = options
  let client = createQuestdbClient(questdb.address.http, 1)
  const closing = new AbortController()
  const { signal } = closing
  const pause = async (ms: number) => void (await sleep(ms, undefined, { signal, ref: false }))
  /** QuestDB has everything up to here; undefined until it was asked. */
  let synced: number | undefined
  let syncedVersion: number | undefined
  const mutex = createMutex()

  async function syncChanges(): Promise<void> {
    try {
      const version = source.version()
      let at = synced ?? (await begin())
      for (;;) {
        signal.throwIfAborted()
        const changed = await source.namesSince(at, rowsPerRequest)
        const last = changed.at(-1)
        if (last === undefined) break
        requireLead(leads)
        await client.write(changed.map(source.rowOf).join(''), timeoutMs)
        at = source.sequenceOf(last)
      }
      requireLead(leads)
      synced = at
      syncedVersion = version
    } catch (error) {
      forget()
      throw error
    }
  }

  /** QuestDB throws away what comes over a connection that has written to a table which is dropped, and answers well. */
  function begin(): Promise<number> {
    client.close()
    client = createQuestdbClient(questdb.address.http, 1)
    return findBrought(source, whileLeading(client, leads), () => pause(pollMs))
  }

  /** The next time it may be another QuestDB, or one that has lost rows. */
  function forget(): void {
    synced = undefined
    syncedVersion = undefined
  }

  function sync(): Promise<void> {
    return mutex.run(syncChanges)
  }

  let isLogged = false
  async function check(): Promise<void> {
    if (questdb.state().state !== 'up' || !leads()) return forget()
    if (source.version() === syncedVersion) return
    try {
      await sync()
      isLogged = false
    } catch (error) {
      if (!isLogged && !signal.aborted)
        log.warn({ err: error, table: source.table, replica }, 'names not copied to QuestDB, retrying')
      isLogged = true
    }
  }

  async function watch(): Promise<void> {
    for (;;) {
      await pause(checkEveryMs).catch(() => undefined)
      if (signal.aborted) return
      await check()
    }
  }

  const watching = watch()
  return {
    sync,
    async close() {
      closing.abort()
      client.close()
      await Promise.all([watching, mutex.idle()])
    },
  }
}

function requireLead(leads: () => boolean): void {
  if (!leads()) throw new Error('another node copies the names')
}

/** Asks nothing of QuestDB where another node may be copying. */
function whileLeading(client: QuestdbClient, leads: () => boolean): Pick<QuestdbClient, 'exec'> {
  return {
    exec(sql, timeoutMs) {
      requireLead(leads)
      return client.exec(sql, timeoutMs)
    },
  }
}

/**
 * Up to which change the table has the names. It is a copy, so one that cannot be right is made anew: suspended, or ahead of
 * the registry, as after a restore.
 */
async function findBrought<Name>(
  { table, sequenceColumn, ensure, sequence }: NameSource<Name>,
  client: Pick<QuestdbClient, 'exec'>,
  pause: () => Promise<void>,
): Promise<number> {
  const exec = (sql: string) => client.exec(sql, timeoutMs)
  const [suspended] = await exec(`SELECT suspended FROM wal_tables() WHERE name = '${table}'`)
  if (suspended?.[0] === true) await exec(`DROP TABLE ${table}`)
  await ensure(client)
  await untilTableApplied(exec, table, pause)
  const [row] = await exec(`SELECT max(${sequenceColumn}) FROM ${table}`)
  const highest = Number(row?.[0] ?? 0)
  // Asked after the other: the registry of no process has what PostgreSQL has not.
  if (highest <= (await sequence())) return highest
  await exec(`DROP TABLE ${table}`)
  await ensure(client)
  return 0
}
