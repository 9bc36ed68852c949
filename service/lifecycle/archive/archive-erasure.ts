/** Removes the rows of erased series from archived files by rewriting them. */

import type pg from 'pg'
import { bug } from '../../../store/limits/bug.ts'
import type { QuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import { ensureExpiryTables } from '../../../store/questdb/questdb-tables.ts'
import { readExpiredBeforeMs } from '../retention/expired-days.ts'
import { type HoursRange, whereSql } from '../retention/expiring-tables.ts'
import { dayMs } from '../retention/horizon.ts'
import type { ArchiveFiles } from './archive-files.ts'
import { type ArchivedFile, readDay, readStarts } from './archive-records.ts'
import { type ArchivedName, type ArchivedTable, archivedTables } from './archived-tables.ts'
import type { DayArchiver } from './day-archiver.ts'

export interface ArchiveErasureOptions {
  pool: pg.Pool
  questdbs: () => readonly { client: QuestdbClient }[]
  files: () => ArchiveFiles
  note: DayArchiver['note']
}

type Key = string | number

/** Rejects if the archive is unavailable. A second call completes the first one. */
export type EraseInArchive = (name: ArchivedName, keys: readonly Key[]) => Promise<void>

const execTimeoutMs = 60_000
/** Keys per statement: QuestDB bounds the length of a URL. */
const keysMax = 500
/** Bounds a statement, which scans all rows of the range: QuestDB ends it after 30 seconds. */
const rangeMs = 30 * dayMs

export function createArchiveErasure({ pool, questdbs, files, note }: ArchiveErasureOptions): EraseInArchive {
  /**
   * Archived days that may have rows of the keys: days with hours of them, and days that have not expired everywhere.
   */
  async function daysWith(table: ArchivedTable, keys: readonly Key[]): Promise<number[]> {
    const noted = await readStarts(pool)
    const [first, last] = [noted[0], noted.at(-1)]
    if (first === undefined || last === undefined || keys.length === 0) return []
    const found = new Set<number>()
    let expiredBeforeMs = Number.POSITIVE_INFINITY
    for (const { client } of questdbs()) {
      const exec = (sql: string) => client.exec(sql, execTimeoutMs)
      await ensureExpiryTables(client)
      expiredBeforeMs = Math.min(expiredBeforeMs, await readExpiredBeforeMs(exec))
      for (const sql of daysStatements(table, keys, first, last)) {
        for (const [us] of await exec(sql)) found.add(Number(us) / 1000)
      }
    }
    return noted.filter(startMs => startMs >= expiredBeforeMs || found.has(startMs))
  }

  async function eraseDay(name: ArchivedName, startMs: number, keys: readonly Key[]): Promise<void> {
    const before = await readDay(pool, startMs)
    if (before === undefined) return
    const kept: ArchivedFile[] = []
    for (const file of before.files)
      kept.push(...(file.table === name ? await files().rewrite(file, { keys }) : [file]))
    // An earlier run may have ended between its note and the removal of old files.
    if (kept.map(({ key }) => key).join() === before.files.map(({ key }) => key).join())
      await files().tidy(startMs, kept)
    else await note(before, { ...before, files: kept })
  }

  return async (name, keys) => {
    for (const startMs of await daysWith(archivedTables[name], keys)) await eraseDay(name, startMs, keys)
  }
}

function* daysStatements(table: ArchivedTable, keys: readonly Key[], firstMs: number, lastMs: number) {
  for (let fromMs = firstMs; fromMs <= lastMs; fromMs += rangeMs) {
    for (let at = 0; at < keys.length; at += keysMax)
      yield daysSql(table, keys.slice(at, at + keysMax), { fromMs, toMs: fromMs + rangeMs })
  }
}

/** Hours of erased keys stay as rows without values. */
function daysSql({ hoursTable, keyColumn }: ArchivedTable, keys: readonly Key[], range: HoursRange): string {
  const texts = keys.map(key => {
    if (!/^[a-z0-9-]+$/.test(String(key))) throw bug(`a key is ${key}`)
    return typeof key === 'string' ? `'${key}'` : String(key)
  })
  return `SELECT DISTINCT cast(timestamp_floor('d', ts) AS LONG) FROM ${hoursTable} ${whereSql(range)} AND ${keyColumn} IN (${texts.join(', ')})`
}
