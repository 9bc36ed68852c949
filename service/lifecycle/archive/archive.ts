/**
 * Archives days of raw rows as Parquet files outside of QuestDB. A day is archived before it expires, in steps that may
 * be interrupted and repeated: files are written under new names, read back and compared with QuestDB, then noted in
 * PostgreSQL. Files without a note are left-overs and are removed.
 */

import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type pg from 'pg'
import { bug } from '../../../store/limits/bug.ts'
import { createMutex } from '../../../store/limits/mutex.ts'
import { createQuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import type { Questdb } from '../../../store/questdb/questdb.ts'
import type { QuestdbReplica } from '../../../store/questdb/questdb-replicas.ts'
import type { ErasedRows, ErasedSeries } from '../erasure/erase-records.ts'
import { createArchiveErasure } from './archive-erasure.ts'
import { type ArchiveFiles, createArchiveFiles } from './archive-files.ts'
import { type ArchivedDay, type ArchivedFile, readArchiveId, readDays } from './archive-records.ts'
import type { ArchiveTarget } from './archive-target.ts'
import { createDayArchiver } from './day-archiver.ts'
import { createRestoration } from './restoration.ts'
import { Spool } from './spool.ts'

export interface Archive {
  /** True if days are archived before they expire. */
  readonly isOn: boolean
  /** Resolves when the archive has all rows of a day that the replica's QuestDB has. Rejects with an ArchiveWait. */
  keep(replica: number, startMs: number): Promise<void>
  /** True if the replica's QuestDB has no further rows of the day since it was archived. */
  holds(replica: number, startMs: number): Promise<boolean>
  /** Erases series in the archive, then runs the work that erases them in QuestDB; no day is archived meanwhile. */
  erase<Result>(rowsOf: ErasedRows, series: ErasedSeries, work: () => Promise<Result>): Promise<Result>
  /** Ascending, from this day on. */
  days(fromMs: number, daysMax: number): Promise<ArchivedDay[]>
  /** Names of files with rows of a range, of the oldest days first, up to a limit. Epoch milliseconds. */
  filesBetween(fromMs: number, toMs: number, filesMax: number): Promise<string[]>
  /** Difference between the file and its note; undefined without one. */
  fault(file: ArchivedFile): Promise<string | undefined>
  /** Copies the rows of a file into the tables of restored rows. */
  restore(file: ArchivedFile): Promise<void>
  /** Removes the restored rows of a day. */
  dropRestored(startMs: number): Promise<void>
  close(): void
}

export interface ArchiveOptions {
  /** Undefined without ARCHIVE_URL: days that were archived before stay noted. */
  target: ArchiveTarget | undefined
  pool: pg.Pool
  /** A lost replica has to be copied from another one before it is used again. */
  replicas: readonly (QuestdbReplica<Pick<Questdb, 'address'>> & { isLost?: () => boolean })[]
  /** Holds local copies of files for a short time. */
  directory: string
  reserveBytes: number
  leads?: () => boolean
}

/** The archive cannot process a day or an erasure at present. The message has the reason. */
export class ArchiveWait extends Error {}

const readsMax = 10

export function createArchive(options: ArchiveOptions): Archive {
  const { target, pool, directory, reserveBytes, leads = () => true } = options
  const closing = new AbortController()
  const { signal } = closing
  const questdbs = options.replicas.map(({ number, questdb, isLost = () => false }) => {
    const { http } = questdb.address
    return { number, http, client: createQuestdbClient(http), isLost }
  })
  const inUse = () => questdbs.filter(({ isLost }) => !isLost())
  const mutex = createMutex()
  const spool = new Spool({ directory, reserveBytes, signal })
  const known = target && { files: createArchiveFiles(target, spool), assertOurs: createOwnCheck(target, pool, spool) }
  function archive(): { files: ArchiveFiles; assertOurs: () => Promise<void> } {
    if (known === undefined) throw new Error('ARCHIVE_URL is not set')
    return known
  }
  const files = () => archive().files
  const archiver = createDayArchiver({ pool, files, spool, leads })
  const eraseIn = createArchiveErasure({ pool, questdbs: inUse, files, note: archiver.note })

  const { restore, dropRestored } = createRestoration({ pool, questdbs: inUse, files, spool, signal })
  const reads = createMutex(readsMax)

  /** Requests read one file at a time. */
  async function read(work: () => Promise<void>): Promise<void> {
    if ((await reads.tryRun(work)) === 'full') throw new Error('too many files are to be read')
  }

  function clientOf(replica: number) {
    const found = questdbs.find(({ number }) => number === replica)
    if (found === undefined) throw bug(`there is no replica ${replica}`)
    return found.client
  }

  async function waiting<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new ArchiveWait(`archive ${target?.name ?? ''}: ${reason}`, { cause: error })
    }
  }

  async function eraseSeries(rowsOf: ErasedRows, { symbols, customSeries }: ErasedSeries): Promise<void> {
    if (rowsOf === 'points' || (await readDays(pool, 0, 1)).length === 0) return
    await archive().assertOurs()
    if (rowsOf === 'readings') await eraseIn('readings', symbols)
    await eraseIn('measurements', customSeries)
  }

  return {
    isOn: target !== undefined,
    keep: (replica, startMs) =>
      mutex.run(() =>
        waiting(async () => {
          await archive().assertOurs()
          await archiver.keep(clientOf(replica), startMs)
        }),
      ),
    holds: (replica, startMs) => waiting(() => archiver.holds(clientOf(replica), startMs)),
    erase: (rowsOf, series, work) =>
      mutex.run(async () => {
        await waiting(() => eraseSeries(rowsOf, series))
        return await work()
      }),
    days: (fromMs, daysMax) => readDays(pool, fromMs, daysMax),
    async filesBetween(fromMs, toMs, filesMax) {
      const days = (await readDays(pool, fromMs, filesMax)).filter(({ startMs }) => startMs < toMs)
      const files = days.flatMap(day => day.files).filter(file => file.fromMs < toMs && file.toMs > fromMs)
      return files.slice(0, filesMax).map(({ key }) => key)
    },
    fault: file =>
      read(() => files().verify(file)).then(
        () => undefined,
        error => String(error.message),
      ),
    restore: file => read(() => restore(file)),
    dropRestored,
    close() {
      closing.abort()
      for (const { client } of questdbs) client.close()
    },
  }
}

const idKey = 'barograph-archive'

/** Throws for an unmounted folder, and for another service's archive, whose files would look like left-overs. */
function createOwnCheck(target: ArchiveTarget, pool: pg.Pool, spool: Spool): () => Promise<void> {
  return async () => {
    const [id, stream] = [await readArchiveId(pool), await target.get(idKey)]
    const found = stream === undefined ? undefined : await firstText(stream)
    if (found !== undefined && found !== id) throw new Error('it belongs to another service')
    if (found === undefined) {
      if ((await readDays(pool, 0, 1)).length > 0) throw new Error(`it lacks the file ${idKey}: is it mounted?`)
      await spool.with(1, async path => {
        await writeFile(path, id)
        await target.put(idKey, path, createHash('sha256').update(id).digest('hex'))
      })
    }
  }
}

/** The id fits into the first chunk of a file. */
async function firstText(stream: Readable): Promise<string> {
  for await (const chunk of stream) return String(chunk)
  return ''
}
