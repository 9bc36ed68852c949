/** Declares arguments of several routes of the admin API. */

import { z } from 'zod'
import { plainText } from '../../store/plain-text.ts'

export function wholeNumber(minimum: 0 | 1, maximum: number, error: string) {
  return z
    .string()
    .regex(minimum === 0 ? /^\d{1,16}$/ : /^[1-9]\d{0,15}$/, error)
    .transform(Number)
    .refine(number => number <= maximum, error)
    .meta({ type: 'integer', minimum, maximum, pattern: undefined })
}

export const pageNumber = wholeNumber(1, 999_999_999, 'must be a whole number from 1')
  .prefault('1')
  .meta({ description: 'Of 100 rows.' })

export function rowCount(max: number) {
  return wholeNumber(1, max, `must be a whole number from 1 to ${max}`)
}

export const searchText = plainText({ max: 256 })
  .default('')
  .meta({ description: 'A text in one of the names, whatever the case.' })

export const PageQuery = z.strictObject({ page: pageNumber })
export const SearchQuery = z.strictObject({ search: searchText, page: pageNumber })

/** True if a rotation revokes the old secret at once. */
const rotateNow = z
  .enum(['0', '1'], 'must be 0 or 1')
  .default('0')
  .transform(now => now === '1')
  .meta({ description: '1 ends the old secret at once.' })

export const RotateQuery = z.strictObject({ now: rotateNow })
