/** Parts of statements that follow from the columns of a row. */

/** Assignments of the columns that a change has. Their placeholders count from a number. */
export function assignments(
  columns: readonly string[],
  change: Readonly<Record<string, unknown>>,
  from: number,
): { set: string[]; values: unknown[] } {
  const given = columns.filter(column => change[column] !== undefined)
  return { set: given.map((column, at) => `${column} = $${from + at}`), values: given.map(column => change[column]) }
}

/** Rows for `jsonb_populate_recordset`, which takes the types of the columns from the table. */
export function rowsAsJson(rows: readonly Readonly<Record<string, unknown>>[]): string {
  // A null of JSON would become the value null of a jsonb column.
  return JSON.stringify(rows.map(row => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))))
}
