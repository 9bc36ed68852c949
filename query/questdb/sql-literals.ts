/** What stands in SQL that has no binds: nothing of a caller's. */

import { bug } from '../../store/limits/bug.ts'

/** Only our own symbols, and they need no escape. */
export function quoted(symbol: string): string {
  if (!/^[a-z0-9-]+$/.test(symbol)) throw bug(`a symbol is ${symbol}`)
  return `'${symbol}'`
}

export function whole(number: number): number {
  if (!Number.isSafeInteger(number)) throw bug(`SQL is to have the whole number ${number}`)
  return number
}
