/** Parses the id of an account, an invitation or a key in a path. */

import { z } from 'zod'

/** The largest id of a record in PostgreSQL. */
const idMax = 2_147_483_647

export const recordId = z
  .string()
  .regex(/^[1-9]\d{0,9}$/)
  .transform(Number)
  .refine(id => id <= idMax)
  // The contract describes a number in place of the text's pattern.
  .meta({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, pattern: undefined })
