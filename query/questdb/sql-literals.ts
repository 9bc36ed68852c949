/** Literals for SQL without binds; they never contain a caller's text. */

import { bug } from '../../store/limits/bug.ts'

/** Only our own symbols, and they need no escape. */
export function quoted(symbol: string): string {
  if (!/^[a-z0-9-]+$/.test(symbol)) throw bug(`invalid symbol ${symbol}`)
  return `'${symbol}'`
}

/** A limit of times. QuestDB stores no row before 1970, and parses some negative limits as the text of a date. */
export function timeLimit(timeUs: number): number {
  return Math.max(0, whole(timeUs))
}

export function whole(number: number): number {
  if (!Number.isSafeInteger(number)) throw bug(`not a whole number in SQL: ${number}`)
  return number
}
