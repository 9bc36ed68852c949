/** Writes archive files and reads them back, verifies them, and rewrites them without some of their rows. */

import { randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import type { QuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import { dayText } from '../retention/expired-days.ts'
import type { HoursRange } from '../retention/expiring-tables.ts'
import type { ArchivedFile } from './archive-records.ts'
import type { ArchiveTarget } from './archive-target.ts'
import { type ArchivedName, type ArchivedTable, archivedNames } from './archived-tables.ts'
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
