/** Declares common forms of query parameters and their schemas in the contract. */

import { z } from 'zod'

/** A parameter is one text. A repeated one arrives as a list and is refused. */
export function parameter(error: string) {
  return z.string({ error })
}

export function wholeNumber(name: string, min: number, max: number) {
  const error = `${name} must be a whole number from ${min} to ${max}`
  return parameter(error)
    .regex(/^[1-9]\d{0,8}$/, error)
    .transform(Number)
    .refine(value => value >= min && value <= max, error)
    .meta(published({ type: 'integer', minimum: min, maximum: max }))
}

/** Replaces the text's pattern in the contract. */
export function published(schema: { type: 'integer' | 'string'; [keyword: string]: unknown }) {
  return { pattern: undefined, ...schema }
}
