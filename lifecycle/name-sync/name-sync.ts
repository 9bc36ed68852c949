/**
 * Keeps the names of the devices in QuestDB, for who reads it there. Each change of the registry has a sequence number, so
 * what is missing is what PostgreSQL has after the highest one in QuestDB: nothing is compared, and nothing is kept here.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Devices } from '../../auth/devices/devices.ts'
import { createMutex } from '../../limits/mutex.ts'
import type { Log } from '../../store/log.ts'
import { createQuestdbClient, type QuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import type { Questdb } from '../../store/questdb/questdb.ts'
import { ensureDeviceNames } from '../../store/questdb/questdb-tables.ts'
import { untilTableApplied } from '../../store/questdb/until-applied.ts'
import { deviceNamesTable } from '../../store/tables.ts'
import { nameRows } from './name-rows.ts'

export interface DeviceNames {
  /** Resolves when QuestDB has taken all names as they are at present, none of a removed device among them. */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface DeviceNamesOptions {
  devices: Pick<Devices, 'version' | 'sequence' | 'namesSince'>
  questdb: Pick<Questdb, 'address' | 'state'>
  log: Pick<Log, 'warn'>
  checkEveryMs?: number
}

const timeoutMs = 30_000
const pollMs = 50
/** So many take the main thread some milliseconds. */
const rowsPerRequest = 1000

export function openDeviceNames({ devices, questdb, log, checkEveryMs = 2000 }: DeviceNamesOptions): DeviceNames {
  let client = createQuestdbClient(questdb.address.http, 1)
  const closing = new AbortController()
  const { signal } = closing
  const pause = async (ms: number) => void (await sleep(ms, undefined, { signal, ref: false }))
  /** What the registry has had at least: the table cannot be of later changes. */
  let known = devices.sequence()
  /** QuestDB has everything up to here; undefined until it was asked. */
  let synced: number | undefined
  let syncedVersion: number | undefined
  const mutex = createMutex()

  async function syncChanges(): Promise<void> {
    try {
      const version = devices.version()
      let at = synced ?? (await begin())
      for (;;) {
        signal.throwIfAborted()
        const changed = await devices.namesSince(at, rowsPerRequest)
        const last = changed.at(-1)
        if (last === undefined) break
        // Without an answer QuestDB may have it all the same.
        known = Math.max(known, last.sequence)
        await client.write(nameRows(changed), timeoutMs)
        at = last.sequence
      }
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
    return findBrought(client, known, () => pause(pollMs))
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
    if (questdb.state().state !== 'up') return forget()
    if (devices.version() === syncedVersion) return
    try {
      await sync()
      isLogged = false
    } catch (error) {
      if (!isLogged && !signal.aborted) log.warn({ err: error }, 'names of devices not copied to QuestDB, retrying')
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

/**
 * Up to which change the table has the names. It is a copy, so one that cannot be right is made anew: suspended, or ahead of
 * the registry, as after a restore.
 */
async function findBrought(client: QuestdbClient, known: number, pause: () => Promise<void>): Promise<number> {
  const exec = (sql: string) => client.exec(sql, timeoutMs)
  const [suspended] = await exec(`SELECT suspended FROM wal_tables() WHERE name = '${deviceNamesTable}'`)
  if (suspended?.[0] === true) await exec(`DROP TABLE ${deviceNamesTable}`)
  await ensureDeviceNames(client)
  await untilTableApplied(exec, deviceNamesTable, pause)
  const [row] = await exec(`SELECT max(seq) FROM ${deviceNamesTable}`)
  const highest = Number(row?.[0] ?? 0)
  if (highest <= known) return highest
  await exec(`DROP TABLE ${deviceNamesTable}`)
  await ensureDeviceNames(client)
  return 0
}
