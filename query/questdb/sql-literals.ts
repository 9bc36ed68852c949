/** Literals for SQL without binds; they never contain a caller's text. */

import { bug } from '../../store/limits/bug.ts'

/** Only our own symbols, and they need no escape. */
export function quoted(symbol: string): string {
  if (!/^[a-z0-9-]+$/.test(symbol)) throw bug(`invalid symbol ${symbol}`)
  return `'${symbol}'`
}

export function whole(number: number): number {
  if (!Number.isSafeInteger(number)) throw bug(`not a whole number in SQL: ${number}`)
  return number
}
