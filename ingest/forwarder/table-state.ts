/** The state of tables in QuestDB: accepted (sequenced) and merged, visible (applied) transactions. */

import type { Log } from '../../store/log.ts'
import { noCommitMode } from '../../store/questdb/questdb-settings.ts'
import { type CustomTable, symbolColumns, type TableDescription } from '../table.ts'
import type { Timing } from '../timing.ts'
import type { QuestdbConnection } from './questdb.ts'

export interface TableState {
  sequencerTxn: number
  writerTxn: number
  /** A suspended table still accepts rows, but does not show them. */
  suspended: boolean
  errorMessage: string
}

/** States have the order of the names, and are all as of one time. */
export async function readTableStates(questdb: QuestdbConnection, tables: readonly string[]): Promise<TableState[]> {
  const columns = 'name, sequencerTxn, writerTxn, suspended, errorMessage'
  const names = tables.map(table => `'${table}'`).join(', ')
  const rows = await questdb.query(`SELECT ${columns} FROM wal_tables() WHERE name IN (${names})`)
  return tables.map(table => {
    const row = rows.find(([name]) => name === table)
    if (row === undefined) throw new Error(`QuestDB has no table ${table}`)
    const [, sequencerTxn, writerTxn, suspended, errorMessage] = row
    return {
      sequencerTxn: Number(sequencerTxn),
      writerTxn: Number(writerTxn),
      suspended: suspended === true,
      errorMessage: String(errorMessage ?? ''),
    }
  })
}

/** Fault of the table's schema, by which QuestDB would reject every row. Undefined for a valid table. */
export async function findSchemaError(
  questdb: QuestdbConnection,
  table: TableDescription,
): Promise<string | undefined> {
  const { name, timestamp, seriesColumn, custom } = table
  const columns = [timestamp, ...symbolColumns(table), ...table.columns.map(column => column.name)]
  if (seriesColumn !== undefined) columns.push(seriesColumn)
  const error = await missingColumns(questdb, name, columns)
  if (error !== undefined || custom === undefined) return error
  return await missingColumns(questdb, custom.name, [custom.timestamp, custom.seriesColumn, custom.valueColumn])
}

async function missingColumns(
  questdb: QuestdbConnection,
  table: string,
  columns: readonly string[],
): Promise<string | undefined> {
  const rows = await questdb.query(`SELECT "column" FROM table_columns('${table}')`)
  const present = new Set(rows.map(row => row[0]))
  const missing = columns.filter(column => !present.has(column))
  return missing.length === 0 ? undefined : `the table ${table} lacks ${missing.join(', ')}`
}

/** Time of the latest row in epoch microseconds; before all times in an empty table. */
export async function readLatestUs(questdb: QuestdbConnection, { name, timestamp }: CustomTable): Promise<number> {
  const [row] = await questdb.query(`SELECT max(${timestamp})::LONG FROM ${name}`)
  const latest = row?.[0]
  return latest === null || latest === undefined ? Number.NEGATIVE_INFINITY : Number(latest)
}

/**
 * Transient causes of a suspension, after which the table is resumed automatically. The last two are a full disk's messages when
 * rows are merged, and when they are merged again.
 */
const transientCause =
  /no space left|too many open files|timed? ?out|could not (open|mmap|allocate)|bulk update failed|commit failed/i

export function isTransientSuspension(errorMessage: string): boolean {
  return transientCause.test(errorMessage)
}

export async function resumeTable(questdb: Pick<QuestdbConnection, 'query'>, table: string): Promise<void> {
  await questdb.query(`ALTER TABLE ${table} RESUME WAL`)
}

interface CommitModeOptions {
  connection: QuestdbConnection
  /** The previously observed mode. */
  isSynced: boolean
  timing: Timing
  log: Log
}

/** QuestDB takes longer than this to restart. */
const queryEveryMs = 1000
const sql = "SELECT value FROM (SHOW PARAMETERS) WHERE property_path = 'cairo.commit.mode'"

/**
 * QuestDB's commit mode: whether applied rows are on its disk. An external QuestDB may restart in another mode, so the mode is
 * polled while it matters.
 */
export class CommitMode {
  readonly #options: CommitModeOptions
  #isSynced: boolean
  #queriedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: CommitModeOptions) {
    this.#options = options
    this.#isSynced = options.isSynced
  }

  /** The mode in effect. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  /**
   * Returns the current mode. Throws when QuestDB does not answer. A recent answer is reused, unless QuestDB may have restarted
   * since.
   */
  async query(mayHaveRestarted: boolean): Promise<boolean> {
    const { connection, timing } = this.#options
    if (!mayHaveRestarted && timing.monotonicMs() - this.#queriedAtMs < queryEveryMs) return this.#isSynced
    const [row] = await connection.query(sql)
    if (row === undefined) throw noCommitMode()
    return row[0] === 'sync'
  }

  /** Takes effect at once. */
  set(isSynced: boolean): void {
    this.#queriedAtMs = this.#options.timing.monotonicMs()
    if (isSynced === this.#isSynced) return
    this.#isSynced = isSynced
    this.#options.log.warn({ isSynced }, 'QuestDB has another commit mode now')
  }
}
