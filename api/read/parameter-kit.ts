/** What the query strings of reads have in common: texts that are checked, and what the contract says of them. */

import { z } from 'zod'

/** A parameter is one text; one that is given twice comes as a list, and is refused like any other wrong one. */
export function parameter(error: string) {
  return z.string({ error })
}

/** Plain digits. */
export function wholeNumber(name: string, min: number, max: number) {
  const error = `${name} must be a whole number from ${min} to ${max}`
  return parameter(error)
    .regex(/^[1-9]\d{0,8}$/, error)
    .transform(Number)
    .refine(value => value >= min && value <= max, error)
    .meta(published({ type: 'integer', minimum: min, maximum: max }))
}

/** What the contract says of a parameter, in place of the pattern of its text. */
export function published(schema: { type: 'integer' | 'string'; [keyword: string]: unknown }) {
  return { pattern: undefined, ...schema }
}
