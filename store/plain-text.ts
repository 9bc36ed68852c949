/** Texts of one line that people choose: names, places, searches. PostgreSQL, a header and a terminal all take them. */

import { z } from 'zod'

const controlCharacters = /\p{Cc}/u
/** What cannot be seen, or changes how the text around it reads: U+202E, zero-width characters, fillers of Hangul. */
const invisible = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800]/u

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
function characterCount(text: string, max: number): number {
  // A text of more units than this is too long however its units pair up, and need not be walked through.
  return text.length > 2 * max ? text.length : [...text].length
}

/** Why a composed text is none that people read as it is: two such texts do not look the same, though letters of different scripts may. */
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

/** More units than a short text has in any spelling. */
const spellingLengthMax = 512

/**
 * The text that a spelling of it stands for (NFC). A text that is too long for any stays as it is: to compose it may take time
 * that grows with the square of its length, and strangers send it.
 */
export function composed(text: string): string {
  return text.length > spellingLengthMax ? text : text.normalize('NFC')
}
