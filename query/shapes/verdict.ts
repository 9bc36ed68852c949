/** The reason why results are missing. */

import { z } from 'zod'
import { reasons } from '../../analytics/reasons.ts'

export type { PairReason, Reason } from '../../analytics/reasons.ts'

export const reason = z.enum(Object.values(reasons)).nullable()

const lack = z
  .strictObject({ needed: z.number(), found: z.number() })
  .nullable()
  .meta({ description: 'The insufficient amount: days, cells or a share from 0 to 1, depending on the reason.' })
export type Lack = z.infer<typeof lack>

export const verdict = { status: z.enum(['ok', 'no_data', 'insufficient_data', 'constant']), reason, lack }
