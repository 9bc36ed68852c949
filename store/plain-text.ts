/** Texts of one line that people choose: names, places, searches. PostgreSQL, a header and a terminal accept all of them. */

import { z } from 'zod'

const controlCharacters = /\p{Cc}/u
/** Characters that are invisible or change how the text around them reads: U+202E, zero-width characters, Hangul fillers. */
const invisible = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800]/u

/** The same rule for the published contract, in syntax that each dialect of regular expressions supports. */
const withoutControls = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

export interface PlainTextLimits {
  /** Lengths are in characters, as PostgreSQL, JSON Schema and a reader count them. */
  min?: number
  max: number
}

/** Excludes lone surrogates, which collapse into one, and control characters. */
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

/** Counts characters, not UTF-16 units. */
function characterCount(text: string, max: number): number {
  // A text of more units is too long however its units pair up, so it need not be counted.
  return text.length > 2 * max ? text.length : [...text].length
}

/** Explains why a composed text is misleading. Two accepted texts never look the same, except by letters of different scripts. */
export function visibleTextFault(text: string, charactersMax: number): string | undefined {
  if (text === '') return 'must not be empty'
  if (characterCount(text, charactersMax) > charactersMax) return `must have at most ${charactersMax} characters`
  if (!text.isWellFormed()) return 'must be well-formed Unicode'
  if (controlCharacters.test(text)) return 'must not contain control characters'
  if (invisible.test(text)) return 'must not contain invisible characters'
  if (/[^\P{Zs} ]/u.test(text)) return 'must not contain blanks other than the space'
  if (text.startsWith(' ') || text.endsWith(' ')) return 'must not begin or end with a space'
  return text.includes('  ') ? 'must not contain two spaces in a row' : undefined
}

/** More units than any spelling of a short text has. */
const spellingLengthMax = 512

/** The text in NFC. A text too long for any field stays unchanged: composition may take quadratic time, and strangers send it. */
export function composed(text: string): string {
  return text.length > spellingLengthMax ? text : text.normalize('NFC')
}
