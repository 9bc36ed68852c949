/** The id in the path of a record: of an account, an invitation, a key. */

import { z } from 'zod'

/** The largest that PostgreSQL has for a record. */
const idMax = 2_147_483_647

export const recordId = z
  .string()
  .regex(/^[1-9]\d{0,9}$/)
  .transform(Number)
  .refine(id => id <= idMax)
  // What the contract says of an id, in place of the pattern of its text.
  .meta({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, pattern: undefined })
