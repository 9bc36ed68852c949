/** Writes archive files and reads them back, verifies them, and rewrites them without rows of erased series. */

import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import type pg from 'pg'
import { bug } from '../../../store/limits/bug.ts'
import type { QuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import { ensureExpiryTables } from '../../../store/questdb/questdb-tables.ts'
import { dayText, readExpiredBeforeMs } from '../retention/expired-days.ts'
import { type HoursRange, whereSql } from '../retention/expiring-tables.ts'
import { dayMs } from '../retention/horizon.ts'
import { type ArchivedFile, readDay, readStarts } from './archive-records.ts'
import type { ArchiveTarget } from './archive-target.ts'
import { type ArchivedName, type ArchivedTable, archivedNames, archivedTables } from './archived-tables.ts'
import type { DayArchiver } from './day-archiver.ts'
import type { Spool } from './spool.ts'

/** QuestDB ends statements after 30 seconds by default, which is too short for an export. */
const exportTimeoutMs = 3_600_000
/** An upper bound: a row takes about 30 bytes, and a file has metadata besides. */
const bytesPerRow = 200
const frameBytes = 1024 * 1024

/** Rows to leave out of a file: rows of some keys, or rows that newer local files have. */
interface Rewriting {
  readonly keys?: readonly (string | number)[]
  readonly newer?: readonly string[]
}

export interface ArchiveFiles {
  /** Writes a local file to the archive, reads it back, and returns its description. */
  put(path: string, sha256: string, file: Pick<ArchivedFile, 'table' | 'fromMs' | 'toMs'>): Promise<ArchivedFile>
  /** Runs work with a local copy. Rejects if the file is missing or has changed. */
  withCopy<Result>(file: ArchivedFile, work: (path: string) => Promise<Result>): Promise<Result>
  /** Throws unless the file matches its note. */
  verify(file: ArchivedFile): Promise<void>
  /** Returns the same file if no row is left out, and none if no row remains. */
  rewrite(file: ArchivedFile, rewriting: Rewriting): Promise<readonly ArchivedFile[]>
  /** Removes other files of the day. */
  tidy(startMs: number, files: readonly ArchivedFile[]): Promise<void>
}

export function createArchiveFiles(target: ArchiveTarget, spool: Spool): ArchiveFiles {
  async function put(
    path: string,
    sha256: string,
    { table, fromMs, toMs }: Pick<ArchivedFile, 'table' | 'fromMs' | 'toMs'>,
  ): Promise<ArchivedFile> {
    const hour = String(new Date(fromMs).getUTCHours()).padStart(2, '0')
    const key = `${folderOf(table, fromMs)}${hour}-${randomBytes(6).toString('hex')}.parquet`
    await target.put(key, path, sha256)
    return await spool.with(1, async copy => {
      await fetchTo(copy, key, sha256, (await stat(path)).size)
      const { bytes, sums } = await spool.run({ kind: 'facts', table, path: copy })
      return { key, table, fromMs, toMs, sha256, bytes, sums }
    })
  }

  async function fetchTo(path: string, key: string, sha256: string, bytes: number): Promise<void> {
    const stream = await target.get(key)
    if (stream === undefined) throw new Error(`${key} is missing in the archive`)
    if ((await spool.write(path, stream, bytes)) !== sha256) throw new Error(`${key} is damaged in the archive`)
  }

  async function withCopy<Result>(file: ArchivedFile, work: (path: string) => Promise<Result>): Promise<Result> {
    return await spool.with(1, async path => {
      await fetchTo(path, file.key, file.sha256, file.bytes)
      return await work(path)
    })
  }

  return {
    put,
    withCopy,
    async verify({ key, table, sums, ...file }) {
      const found = await withCopy({ key, table, sums, ...file }, path => spool.run({ kind: 'facts', table, path }))
      if (found.sums.join() !== sums.join()) throw new Error(`${key} has other rows than noted`)
    },
    async rewrite(file, { keys = [], newer = [] }) {
      const { table } = file
      if (keys.length === 0 && newer.length === 0) return [file]
      return await withCopy(file, path =>
        spool.with(1, async to => {
          const { dropped, ...facts } = await spool.run({ kind: 'without', table, path, to, keys, newer })
          if (dropped === 0) return [file]
          if (Number(facts.sums[0]) === 0) return []
          const written = await put(to, facts.sha256, file)
          if (written.sums.join() !== facts.sums.join()) throw new Error(`${written.key} has other rows than written`)
          return [written]
        }),
      )
    },
    async tidy(startMs, files) {
      const noted = new Set(files.map(({ key }) => key))
      for (const table of archivedNames) {
        for (const key of await target.list(folderOf(table, startMs))) if (!noted.has(key)) await target.remove(key)
      }
    },
  }
}

function folderOf(table: ArchivedName, ms: number): string {
  return `${table}/day=${dayText(ms)}/`
}

/** Exports rows to a local file and returns its digest. An interrupted file has no footer. */
export async function exportRows(
  client: Pick<QuestdbClient, 'get'>,
  { table, range, rows }: { table: ArchivedTable; range: HoursRange; rows: number },
  spool: Spool,
  path: string,
): Promise<string> {
  const query = encodeURIComponent(table.rowsSql(range))
  const signal = AbortSignal.timeout(exportTimeoutMs)
  const headers = { 'statement-timeout': String(exportTimeoutMs) }
  const response = await client.get(`/exp?fmt=parquet&compression_codec=zstd&query=${query}`, { signal, headers })
  if (response.statusCode !== 200) throw new Error(`QuestDB does not export: ${await errorIn(response)}`)
  return await spool.write(path, response as Readable, rows * bytesPerRow + frameBytes)
}

async function errorIn(response: IncomingMessage): Promise<string> {
  const answer = (await json(response).catch(() => ({}))) as { error?: string }
  return answer.error ?? `status ${response.statusCode}`
}

interface ArchiveErasureOptions {
  pool: pg.Pool
  questdbs: () => readonly { client: QuestdbClient }[]
  files: () => ArchiveFiles
  note: DayArchiver['note']
}

type Key = string | number

/** Rejects if the archive is unavailable. A second call completes the first one. */
type EraseInArchive = (name: ArchivedName, keys: readonly Key[]) => Promise<void>

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
