/** Texts of one line that people choose: names, places, searches. PostgreSQL, a header and a terminal all take them. */

import { z } from 'zod'

const controlCharacters = /\p{Cc}/u

/** The same for the published contract, in words that each dialect of regular expressions knows. */
const withoutControls = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

export interface PlainTextLimits {
  /** In characters, as PostgreSQL, JSON Schema and a reader count them. */
  min?: number
  max: number
}

/** No lone surrogates, which collapse into one, and no control characters. */
export function plainText({ min = 0, max }: PlainTextLimits) {
  return z
    .string()
    .superRefine((text, context) => {
      const message = faultOf(text, min, max)
      if (message !== undefined) context.addIssue(message)
    })
    .meta({ ...(min === 0 ? {} : { minLength: min }), maxLength: max, pattern: withoutControls })
}

function faultOf(text: string, min: number, max: number): string | undefined {
  const count = characterCount(text, max)
  if (count < min) return count === 0 ? 'must not be empty' : `must have at least ${min} characters`
  if (count > max) return `must have at most ${max} characters`
  if (!text.isWellFormed()) return 'must be well-formed Unicode'
  return controlCharacters.test(text) ? 'must not contain control characters' : undefined
}

/** Not in UTF-16 units. */
export function characterCount(text: string, max: number): number {
  // A text of more units than this is too long however its units pair up, and need not be walked through.
  return text.length > 2 * max ? text.length : [...text].length
}
