/** Whether there are results, and why not. */

import { z } from 'zod'
import { reasonTexts } from '../../analytics/reasons.ts'

export const reason = z.enum(Object.values(reasonTexts)).nullable()

export const verdict = { status: z.enum(['ok', 'no_data', 'insufficient_data', 'constant']), reason }
