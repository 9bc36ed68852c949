/** Columns of numbers from QuestDB, as Parquet where available, otherwise over the PostgreSQL protocol. */

import { bug } from '../../store/limits/bug.ts'
import type { PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import type { QuestdbSettings } from '../task.ts'
import { type ColumnsRequest, createQuestdbExport } from './questdb-export.ts'
import { ReadingsColumns } from './readings-columns.ts'

type Columns = [Float64Array, ...Float64Array[]]

export interface ColumnsReader {
  /** The first column is a time in microseconds, ascending. Rejects with a QuestdbError. */
  read(asked: ColumnsRequest, signal: AbortSignal): Promise<Columns>
  close(): void
}

export function createColumnsReader(settings: QuestdbSettings, connection: Pick<PgConnection, 'read'>): ColumnsReader {
  const questdbExport = createQuestdbExport(settings)
  return {
    async read(asked, signal) {
      const columns = (await questdbExport.read(asked, signal)) ?? (await readOverPg(connection, asked, signal))
      return columns as Columns
    },
    close: questdbExport.close,
  }
}

const rowsGuess = 1500

/** The same rows as text, four times as slow. Its error is the caller's. */
async function readOverPg(
  connection: Pick<PgConnection, 'read'>,
  { sql, columnCount, rowsMax }: ColumnsRequest,
  signal: AbortSignal,
): Promise<Float64Array[]> {
  const columns = new ReadingsColumns(columnCount - 1, rowsGuess)
  await connection.read({ text: sql, values: [] }, signal, row => columns.add(0, Number(row[0]), row, 1))
  if (columns.length > rowsMax) throw bug(`statement limited to ${rowsMax} rows returned ${columns.length}`)
  return [columns.timesUs, ...Array.from({ length: columnCount - 1 }, (_, index) => columns.values(index))]
}
