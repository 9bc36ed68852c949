/** Values of arguments and options: numbers, JSON, `none`, lists of names, and options that are given more than once. */

import { InvalidArgumentError } from 'commander'
import { CommandError, exitUsage } from './command-error.ts'

/** Null in the request. Commander replaces null itself by an empty text. */
export const cleared = Symbol('cleared')

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

/** A step of a path. Clients resolve `.` and `..` away, and the request would be another one. */
export function stepOf(what: string, isValid = (text: string) => !/^\.{0,2}$/.test(text)): (text: string) => string {
  return text => {
    if (isValid(text)) return text
    throw new CommandError(`"${text}" is not a valid ${what}`, exitUsage)
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
