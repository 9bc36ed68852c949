/** Arguments that several routes of the admin API take. */

import { z } from 'zod'
import { plainText } from '../../auth/plain-text.ts'

/** Pages count from 1. */
export const pageNumber = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'must be a whole number from 1')
  .default('1')
  .transform(Number)
  .meta({
    type: 'integer',
    minimum: 1,
    maximum: 999_999_999,
    pattern: undefined,
    default: 1,
    description: 'Of 100 rows.',
  })

export const searchText = plainText({ max: 256 })
  .default('')
  .meta({ description: 'A text in one of the names, whatever the case.' })

export const PageQuery = z.strictObject({ page: pageNumber })
export const SearchQuery = z.strictObject({ search: searchText, page: pageNumber })

/** Of a rotation: whether the old secret ends at once. */
const rotateNow = z
  .enum(['0', '1'], 'must be 0 or 1')
  .default('0')
  .transform(now => now === '1')
  .meta({ description: '1 ends the old secret at once.' })

export const RotateQuery = z.strictObject({ now: rotateNow })
