/** Response of `excursions/<device>`. */

import { z } from 'zod'
import { answerContext, Count, LocalMinute } from './parts.ts'

/** Only the newest ones are listed. */
export const excursionsMax = 500

const Seconds = z.number().nonnegative()

const totals = {
  count: Count.meta({ description: 'Excursions that begin in it.' }),
  longest_seconds: Seconds,
  seconds: Seconds.meta({ description: 'Time beyond a threshold, in excursions that count.' }),
  degree_minutes: Seconds.meta({
    description: 'The distance from the threshold over time, in the unit of the metric times minutes.',
  }),
  gap_seconds: Seconds.meta({ description: 'Time without a known value.' }),
  covered_seconds: Seconds,
}

const Excursion = z.strictObject({
  direction: z.enum(['above', 'below']),
  start: LocalMinute,
  end: LocalMinute.nullable().meta({ description: 'Null if it continues at the end of the range.' }),
  seconds: Seconds,
  degree_minutes: Seconds,
  extreme: z.number().meta({ description: 'The value farthest from the threshold.' }),
  gap_seconds: Seconds.meta({ description: 'The silence that ended it; 0 when a reading did.' }),
})

export const Excursions = z.strictObject({
  device: z.string(),
  ...answerContext,
  metric: z.string(),
  unit: z.string().nullable(),
  above: z.number().nullable(),
  below: z.number().nullable(),
  for_seconds: Count,
  start: LocalMinute,
  end: LocalMinute,
  total: z.strictObject(totals),
  days: z.array(z.strictObject({ date: z.iso.date(), ...totals })),
  episodes: z
    .array(Excursion)
    .max(excursionsMax)
    .meta({ description: 'Newest first; the first ones of episodes_total.' }),
  episodes_total: Count,
})
export type Excursions = z.infer<typeof Excursions>
