/** Response of `anomalies/<device>`. */

import { z } from 'zod'
import { anomalyCodes } from '../../analytics/findings/finding.ts'
import { Finding } from './findings.ts'
import { customMetrics } from './kinds.ts'
import { answerContext, Count, LocalMinute } from './parts.ts'

/** The most anomalies of a page. */
export const anomaliesMax = 500

/** A start in milliseconds, a code and a metric; together they are unique for a device. */
export const AnomalyId = z
  .string()
  .regex(/^\d{1,15}\.[a-z_]{1,20}\.[a-z0-9_]{0,48}$/)
  .meta({ description: 'Start in milliseconds, code and metric of the anomaly.' })

const Anomaly = z
  .strictObject({
    id: AnomalyId,
    code: z.enum(anomalyCodes),
    metric: Finding.shape.metric,
    start: LocalMinute,
    end: LocalMinute.nullable().meta({ description: 'Null if it continues at the end of the range.' }),
    value: z.number().nullable().meta({ description: 'In the unit of the metric.' }),
    value_at: LocalMinute.nullable().meta({
      description: 'Time of the value for a spike or a jump, where neighbouring readings are suspect too; else null.',
    }),
    expected: Finding.shape.expected,
    count: Count.nullable().meta({ description: 'Number of suspect readings.' }),
    reason: z.string().meta({ description: 'The finding as a sentence, in the units of the answer.' }),
  })
  .meta({ id: 'Anomaly' })
export type Anomaly = z.infer<typeof Anomaly>

export const Anomalies = z.strictObject({
  device: z.string(),
  ...answerContext,
  start: LocalMinute,
  end: LocalMinute,
  anomalies: z.array(Anomaly).max(anomaliesMax).meta({ description: 'Newest first.' }),
  anomalies_total: Count.meta({ description: 'Anomalies in the whole range.' }),
  next: AnomalyId.nullable().meta({ description: '`after` of the next page; null on the last page.' }),
  ...customMetrics,
})
export type Anomalies = z.infer<typeof Anomalies>
