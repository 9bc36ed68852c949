/** How far QuestDB is with a table: what it has taken (sequenced) and what it has merged and shows (applied). */

import { symbolColumns, type TableDescription } from '../table.ts'
import type { QuestdbConnection } from './questdb.ts'

export interface TableState {
  sequencerTxn: number
  writerTxn: number
  /** A suspended table still takes rows, but shows none of them. */
  suspended: boolean
  errorMessage: string
}

export async function readTableState(questdb: QuestdbConnection, table: string): Promise<TableState> {
  const columns = 'sequencerTxn, writerTxn, suspended, errorMessage'
  const [row] = await questdb.query(`SELECT ${columns} FROM wal_tables() WHERE name = '${table}'`)
  if (row === undefined) throw new Error(`QuestDB has no table ${table}`)
  const [sequencerTxn, writerTxn, suspended, errorMessage] = row
  return {
    sequencerTxn: Number(sequencerTxn),
    writerTxn: Number(writerTxn),
    suspended: suspended === true,
    errorMessage: String(errorMessage ?? ''),
  }
}

/** What is wrong with the table itself, so that every row would be refused; undefined when it is as it should be. */
export async function findSchemaError(
  questdb: QuestdbConnection,
  table: TableDescription,
): Promise<string | undefined> {
  const rows = await questdb.query(`SELECT "column" FROM table_columns('${table.name}')`)
  const present = new Set(rows.map(row => row[0]))
  const columns = [table.timestamp, ...symbolColumns(table), ...table.columns.map(({ name }) => name)]
  if (table.seriesColumn !== undefined) columns.push(table.seriesColumn)
  const missing = columns.filter(column => !present.has(column))
  return missing.length === 0 ? undefined : `the table ${table.name} lacks ${missing.join(', ')}`
}

/**
 * Causes of a suspension that go away by themselves, so that resuming is right without asking anybody. The last two are
 * what a full disk is called when rows are merged, and when they are merged again.
 */
const transientCause =
  /no space left|too many open files|timed? ?out|could not (open|mmap|allocate)|bulk update failed|commit failed/i

export function isTransientSuspension(errorMessage: string): boolean {
  return transientCause.test(errorMessage)
}

export async function resumeTable(questdb: QuestdbConnection, table: string): Promise<void> {
  await questdb.query(`ALTER TABLE ${table} RESUME WAL`)
}
