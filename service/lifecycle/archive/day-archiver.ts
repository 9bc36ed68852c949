/** Writes a day of QuestDB to the archive, and its later changes. */

import type pg from 'pg'
import type { QuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import { ensureSeriesNames } from '../../../store/questdb/questdb-tables.ts'
import { piecesOf } from '../retention/expired-days.ts'
import { type HoursRange, whereSql } from '../retention/expiring-tables.ts'
import { dayMs } from '../retention/horizon.ts'
import { type ArchiveFiles, exportRows } from './archive-files.ts'
import { type ArchivedDay, type ArchivedFile, readDay, writeDay } from './archive-records.ts'
import {
  type ArchivedName,
  type ArchivedTable,
  addSums,
  archivedNames,
  archivedTables,
  type Sums,
  sumsSql,
} from './archived-tables.ts'
import type { Spool } from './spool.ts'

export interface DayArchiverOptions {
  pool: pg.Pool
  files: () => ArchiveFiles
  spool: Spool
  leads: () => boolean
}

export interface DayArchiver {
  keep(client: QuestdbClient, startMs: number): Promise<void>
  holds(client: QuestdbClient, startMs: number): Promise<boolean>
  /** Notes the files of a day and removes all others. */
  note(before: ArchivedDay | undefined, day: Pick<ArchivedDay, 'startMs' | 'source' | 'files'>): Promise<void>
}

/** Rows of a part of a day that become a file. */
interface Piece {
  readonly range: HoursRange
  readonly rows: number
  readonly sums: Sums
}

type Source = ArchivedDay['source']

const execTimeoutMs = 60_000

export function createDayArchiver({ pool, files, spool, leads }: DayArchiverOptions): DayArchiver {
  const note: DayArchiver['note'] = async (before, day) => {
    if (!leads()) throw new Error('another node leads by now')
    await writeDay(pool, before, day)
    await files().tidy(day.startMs, day.files)
  }

  /** Rows in QuestDB replace archived rows with the same key and time. */
  async function writeTable(
    client: QuestdbClient,
    { table, pieces, old }: { table: ArchivedTable; pieces: readonly Piece[]; old: readonly ArchivedFile[] },
  ): Promise<ArchivedFile[]> {
    return await spool.with(pieces.length, async (...paths) => {
      const added: ArchivedFile[] = []
      for (const [at, { range, rows, sums }] of pieces.entries()) {
        const path = paths[at] as string
        const sha256 = await exportRows(client, { table, range, rows }, spool, path)
        const file = await files().put(path, sha256, { table: table.name, ...range })
        if (file.sums.join() !== sums.join()) {
          throw new Error(`${file.key} does not have the rows of QuestDB: ${file.sums} of ${sums}`)
        }
        added.push(file)
      }
      const replaced: ArchivedFile[] = []
      for (const file of old) {
        const newer = paths.filter((_, at) => overlaps(pieces[at]?.range, file))
        replaced.push(...(await files().rewrite(file, { newer })))
      }
      return [...replaced, ...added]
    })
  }

  return {
    note,
    async keep(client, startMs) {
      await ensureSeriesNames(client)
      const before = await readDay(pool, startMs)
      const pieces = await piecesOfAll(client, startMs)
      const source = sourceOf(pieces)
      if (before !== undefined && isSame(before.source, source)) return await files().tidy(startMs, before.files)
      const written: ArchivedFile[] = []
      for (const name of archivedNames) {
        const old = before?.files.filter(file => file.table === name) ?? []
        const isArchived = before !== undefined && before.source[name].join() === source[name].join()
        const given = { table: archivedTables[name], pieces: pieces[name].filter(({ rows }) => rows > 0), old }
        written.push(...(isArchived ? old : await writeTable(client, given)))
      }
      await note(before, { startMs, source, files: written })
    },
    async holds(client, startMs) {
      const day = await readDay(pool, startMs)
      return day !== undefined && isSame(day.source, sourceOf(await piecesOfAll(client, startMs)))
    },
  }
}

type Pieces = Record<ArchivedName, Piece[]>

async function piecesOfAll(client: QuestdbClient, startMs: number): Promise<Pieces> {
  const piecesOfTable = (name: ArchivedName) => piecesIn(client, archivedTables[name], startMs)
  return { readings: await piecesOfTable('readings'), measurements: await piecesOfTable('measurements') }
}

function sourceOf({ readings, measurements }: Pieces): Source {
  const sumsOf = (pieces: readonly Piece[]) => addSums(pieces.map(({ sums }) => sums))
  return { readings: sumsOf(readings), measurements: sumsOf(measurements) }
}

async function piecesIn(client: QuestdbClient, table: ArchivedTable, startMs: number): Promise<Piece[]> {
  const exec = (sql: string) => client.exec(sql, execTimeoutMs)
  const [count] = await exec(
    `SELECT count() FROM ${table.name} ${whereSql({ fromMs: startMs, toMs: startMs + dayMs })}`,
  )
  const pieces: Piece[] = []
  for (const range of piecesOf(startMs, Number(count?.[0]))) {
    const [row = []] = await exec(sumsSql(table, table.rowsSql(range)))
    const sums = row.map(sum => String(sum ?? ''))
    pieces.push({ range, rows: Number(sums[0]), sums })
  }
  return pieces
}

function isSame(one: Source, other: Source): boolean {
  return archivedNames.every(name => one[name].join() === other[name].join())
}

function overlaps(range: HoursRange | undefined, { fromMs, toMs }: HoursRange): boolean {
  return range !== undefined && range.fromMs < toMs && fromMs < range.toMs
}
