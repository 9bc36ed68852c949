/** Options and lists of the commands about alerts. */

import { InvalidArgumentError } from 'commander'
import type { z } from 'zod'
import type { Selector } from '../auth/devices/selector.ts'
import type { AdminClient } from './admin-client.ts'
import { CommandError } from './command-error.ts'

export function recordId(text: string): string {
  if (!/^[1-9]\d{0,17}$/.test(text)) throw new InvalidArgumentError('An id must be a whole number.')
  return text
}

export function recordIds(text: string, before: readonly number[] = []): number[] {
  return [...before, Number(recordId(text))]
}

/** Pages by key; the path has a query already. */
export async function listAll<Page, Row>(
  client: AdminClient,
  path: string,
  shape: z.ZodType<Page>,
  partsOf: (page: Page) => { rows: readonly Row[]; next: string | number | null },
): Promise<Row[]> {
  const found: Row[] = []
  let after = ''
  for (;;) {
    const { rows, next } = partsOf(await client.json(shape, 'GET', `${path}${after}`))
    found.push(...rows)
    if (next === null) return found
    after = `&after=${next}`
  }
}

export interface SelectorOptions {
  device?: string[]
  tag?: string[]
  all?: boolean
}

/** Undefined where nothing was said. */
export function selectorOf({ device, tag, all }: SelectorOptions): Selector | undefined {
  if (device !== undefined) return { devices: device }
  if (tag !== undefined) return { tags: tag }
  return all === true ? { all: true } : undefined
}

const durationUnits = { s: 1, m: 60, h: 3600, d: 86_400 }

/** `90`, `90s`, `15m`, `6h`, `7d`. */
export function seconds(text: string): number {
  const parts = /^(\d{1,9})([smhd]?)$/.exec(text)
  if (parts === null) throw new InvalidArgumentError('Expected a duration such as 90s, 15m, 6h or 7d.')
  const [, count, unit = ''] = parts
  return Number(count) * (durationUnits[unit as keyof typeof durationUnits] ?? 1)
}

/** The value of an option. */
export function jsonObject(text: string): Record<string, unknown> {
  const value = objectIn(text)
  if (value === undefined) throw new InvalidArgumentError('Expected a JSON object.')
  return value
}

/** The contents of a file. */
export function jsonObjectOf(file: string, text: string): Record<string, unknown> {
  const value = objectIn(text)
  if (value === undefined) throw new CommandError(`${file} is not a JSON object`)
  return value
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
