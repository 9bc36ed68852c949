/** Values of options: numbers, JSON, `none`, lists of names, and options that are given more than once. */

import { InvalidArgumentError } from 'commander'

/** Checked by the server. */
export type JsonObject = Record<string, unknown>

/** Commander makes an empty text of null, so the word stands for it until the end. */
export function numberOrNone(text: string): number | 'none' {
  if (text === 'none') return text
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Expected a number or none.')
  return value
}

export function jsonObjectOrNone(text: string): JsonObject | 'none' {
  if (text === 'none') return text
  const limits = jsonOf(text)
  if (typeof limits === 'object' && limits !== null && !Array.isArray(limits)) return limits as JsonObject
  throw new InvalidArgumentError(`Expected JSON such as '{"pressure":{"min":700}}' or none.`)
}

/** Undefined for invalid JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A whole number from 1 on. */
export function countUpTo(max: number): (text: string) => number {
  const digitsMax = String(max).length
  return text => {
    const count = text.length <= digitsMax && /^\d+$/.test(text) ? Number(text) : 0
    if (count >= 1 && count <= max) return count
    throw new InvalidArgumentError(`Expected a whole number from 1 to ${max}.`)
  }
}

/** Separated by commas, semicolons or blanks. */
export function namesIn(text: string): string[] {
  return text.split(/[\s,;]/).filter(name => name !== '')
}

export function collected(text: string, before: readonly string[] = []): string[] {
  return [...before, text]
}
