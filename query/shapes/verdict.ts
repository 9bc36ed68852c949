/** Whether there are results, and why not. */

import { z } from 'zod'
import { reasons } from '../../analytics/reasons.ts'

export type { PairReason, Reason } from '../../analytics/reasons.ts'

export const reason = z.enum(Object.values(reasons)).nullable()

const lack = z
  .strictObject({ needed: z.number(), found: z.number() })
  .nullable()
  .meta({ description: 'Of what there is too little: days, cells or a share from 0 to 1, as the reason has it.' })
export type Lack = z.infer<typeof lack>

export const verdict = { status: z.enum(['ok', 'no_data', 'insufficient_data', 'constant']), reason, lack }
