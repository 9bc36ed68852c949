/** Values of arguments and options: numbers, JSON, `none`, lists of names, and options that are given more than once. */

import { InvalidArgumentError } from 'commander'
import type { AttemptAnswer } from '../alerts/core/delivery.ts'
import type { Selector } from '../auth/devices/selector.ts'
import { CommandError, exitUsage } from './command-error.ts'

/** Null in the request. Commander replaces null itself by an empty text. */
export const cleared = Symbol('cleared')
type Cleared = typeof cleared

export function textOrNone(text: string): string | Cleared {
  return text === 'none' ? cleared : text
}

export function textOrEmpty(text: string): string | Cleared {
  return text === '' ? cleared : text
}

export function numberOrNone(text: string): number | Cleared {
  if (text === 'none') return cleared
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('Expected a number or none.')
  return value
}

export function jsonObjectOrNone(text: string): object | Cleared {
  if (text === 'none') return cleared
  const value = jsonObjectIn(text)
  if (value !== undefined) return value
  throw new InvalidArgumentError(`Expected JSON such as '{"pressure":{"min":700}}' or none.`)
}

export function jsonObject(text: string): object {
  const value = jsonObjectIn(text)
  if (value === undefined) throw new InvalidArgumentError('Expected a JSON object.')
  return value
}

/** Undefined for other JSON and for invalid JSON. */
function jsonObjectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** Digits alone are an id, because no address consists of them. An empty text clears the owner. */
export function ownerOf(text: string): string | number | Cleared {
  return /^\d{1,10}$/.test(text) ? Number(text) : textOrEmpty(text)
}

/** Text, because ids of alerts can be larger than exact numbers. */
export function recordId(text: string): string {
  if (!/^[1-9]\d{0,17}$/.test(text)) throw new InvalidArgumentError('An id must be a whole number.')
  return text
}

export function recordNumber(text: string): number {
  return Number(recordId(text))
}

export function recordNumbers(text: string, before: readonly number[] = []): number[] {
  return [...before, recordNumber(text)]
}

const durationUnits = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `90`, `90s`, `15m`, `6h`, `7d`. */
export function seconds(text: string): number {
  const parts = /^(\d{1,9})([smhd]?)$/.exec(text)
  if (parts === null) throw new InvalidArgumentError('Expected a duration such as 90s, 15m, 6h or 7d.')
  const [, count, unit = ''] = parts
  return Number(count) * (durationUnits[unit as keyof typeof durationUnits] ?? 1)
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

export function namesOrNone(text: string): string[] | Cleared {
  return text === 'none' ? cleared : namesIn(text)
}

/** Separated by commas, semicolons or blanks. */
export function namesIn(text: string): string[] {
  return text.split(/[\s,;]/).filter(name => name !== '')
}

export function collected(text: string, before: readonly string[] = []): string[] {
  return [...before, text]
}

/** Options of several commands about alerts. */
export interface SelectorOptions {
  device?: string[] | undefined
  tag?: string[] | undefined
  all?: boolean | undefined
}

/** Undefined without such an option. */
export function selectorOf({ device, tag, all }: SelectorOptions): Selector | undefined {
  if (device !== undefined) return { devices: device }
  if (tag !== undefined) return { tags: tag }
  return all === true ? { all: true } : undefined
}

export function jsonObjectOf(file: string, text: string): Record<string, unknown> {
  const value = jsonObjectIn(text)
  if (value === undefined) throw new CommandError(`${file} is not a JSON object`)
  return value
}

/** The failure of a notification that was sent by hand. */
export function attemptFailure(subject: string): (answer: AttemptAnswer) => string | undefined {
  return ({ outcome, answer }) => {
    if (outcome === 'written') return `${subject} was ${answer}`
    return outcome === 'delivered' ? undefined : `${subject} was not delivered`
  }
}
