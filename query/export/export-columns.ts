/** The columns of an export behind time and device: what readings hold, or aggregates of each metric by the bucket. */

import { hourlyColumns, metrics } from '../../store/tables.ts'

export interface ExportColumn {
  readonly name: string
  /** How QuestDB computes it, with its name. */
  readonly sql: string
  readonly isCount: boolean
}

const readingColumns: readonly ExportColumn[] = metrics.map(name => ({ name, sql: name, isCount: false }))

export const bucketColumns: readonly ExportColumn[] = hourlyColumns
  .filter(({ aggregate }) => aggregate !== 'std')
  .map(({ name, sql, aggregate }) => ({ name, sql, isCount: aggregate === 'count' }))

export function columnsOf(stepUs: number | undefined): readonly ExportColumn[] {
  return stepUs === undefined ? readingColumns : bucketColumns
}
