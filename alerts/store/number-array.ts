/**
 * Numbers as PostgreSQL reads an array of them, NULL for what is not finite. One text of numbers costs both sides a fraction of JSON,
 * and of the driver's arrays, which quote each number.
 */
export function numberArray<Row>(rows: readonly Row[], numberOf: (row: Row) => number): string {
  let text = ''
  for (const row of rows) {
    const number = numberOf(row)
    text += `${text === '' ? '' : ','}${Number.isFinite(number) ? number : 'NULL'}`
  }
  return `{${text}}`
}
