/** Series of a chart as the rows of a table: one for each moment at which any of them has a value. */

export interface TableSeries {
  /** Ascending, in milliseconds since 1970. */
  readonly timesMs: readonly number[]
  readonly values: readonly (number | null)[]
}

export interface TableRow {
  readonly atMs: number
  /** One for each series; null where it has none. */
  readonly values: (number | null)[]
}

/** The newest first, as readers of a table look for the last value. */
export function tableRows(series: readonly TableSeries[], fromMs: number, toMs: number): TableRow[] {
  const rows = new Map<number, TableRow>()
  for (const [column, { timesMs, values }] of series.entries()) {
    for (const [place, atMs] of timesMs.entries()) {
      const value = values[place] ?? null
      if (value === null || atMs < fromMs || atMs > toMs) continue
      const row = rows.get(atMs) ?? { atMs, values: series.map(() => null) }
      row.values[column] = value
      rows.set(atMs, row)
    }
  }
  return [...rows.values()].sort((a, b) => b.atMs - a.atMs)
}

export interface TwinTable {
  readonly caption: string
  /** The title above the row heads. */
  readonly headName: string
  readonly columns: readonly { readonly name: string; readonly decimals: number }[]
  readonly rows: readonly TwinRow[]
}

interface TwinRow {
  readonly key: string | number
  /** The row's subject: a time, a day or an hour. */
  readonly head: string
  /** A text stays as it is. */
  readonly cells: readonly (number | string | null)[]
}
