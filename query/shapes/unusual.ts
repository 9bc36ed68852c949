/** Response of `unusual/<device>`. */

import { z } from 'zod'
import { Finding } from './findings.ts'
import { byGauge } from './kinds.ts'
import { LocalMinute, pointTime, verdict } from './parts.ts'

const UsualHour = z
  .strictObject({ ...pointTime, low: z.number(), high: z.number(), d: LocalMinute })
  .meta({ id: 'UsualHour' })

const MetricUnusual = z
  .strictObject({
    ...verdict,
    since: LocalMinute.nullable().meta({ description: 'Beginning of the present unusual episode; null without one.' }),
    value: z.number().nullable().meta({ description: 'The mean since then.' }),
    expected: Finding.shape.expected,
    hours: z.array(UsualHour).meta({ description: 'Usual range of the means of the last 48 full hours.' }),
  })
  .meta({ id: 'MetricUnusual' })

export const UnusualValues = byGauge(MetricUnusual)
export type UnusualValues = z.infer<typeof UnusualValues>
