/** Declares the JSON answer of `GET /api/readings/<device>`. */

import { z } from 'zod'

export const RangeReadings = z
  .array(z.object({ ts: z.int().meta({ description: 'Milliseconds since 1970' }) }).catchall(z.number()))
  .meta({
    id: 'RangeReadings',
    description: 'Missing values are left out. With step, each metric has four figures.',
  })
export type RangeReadings = z.infer<typeof RangeReadings>
