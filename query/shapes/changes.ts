/** Response of `changes/<device>`. */

import { z } from 'zod'
import { customMetrics } from './kinds.ts'
import { answerContext, byMetricAndCustom, Count } from './parts.ts'
import { verdict } from './verdict.ts'

const Change = z
  .strictObject({
    /** The first local day of the new level. */
    date: z.iso.date(),
    before: z.number(),
    after: z.number(),
    shift: z.number(),
    per_day: z
      .number()
      .nullable()
      .meta({ description: 'Daily change of a level that has been changing since that day.' }),
    statistic: z.number().positive(),
    days_before: Count.positive(),
    days_after: Count.positive(),
  })
  .meta({ id: 'LevelChange' })

const Changes = z.strictObject({ ...verdict, changes: z.array(Change) }).meta({ id: 'MetricLevelChanges' })

export const LevelChanges = byMetricAndCustom(Changes, Changes).extend({
  device: z.string(),
  ...answerContext,
  ...customMetrics,
})
