/** What stands in SQL that has no binds: nothing of a caller's. */

import assert from 'node:assert/strict'

/** Only our own symbols, and they need no escape. */
export function quoted(symbol: string): string {
  assert(/^[a-z0-9-]+$/.test(symbol), 'a symbol is of our own making')
  return `'${symbol}'`
}

export function whole(number: number): number {
  assert(Number.isSafeInteger(number), 'a whole number stands in SQL')
  return number
}
