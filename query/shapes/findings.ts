/** Findings about a device: a part of `stats_data` and of `/api/fleet/insights`. */

import { z } from 'zod'
import { findingCodes, findingSeverities, findingsMax } from '../../analytics/findings/finding.ts'
import { Count, LocalMinute } from './parts.ts'

const ClockTime = z.string().regex(/^\d\d:\d\d$/)

export const Finding = z
  .strictObject({
    code: z.enum(findingCodes),
    severity: z.enum(findingSeverities),
    metric: z.string().nullable().meta({ description: 'Null for the whole device.' }),
    since: LocalMinute,
    until: LocalMinute.nullable().meta({ description: 'Null while it continues.' }),
    value: z.number().nullable().meta({ description: 'In the unit of the metric; for battery_days in days.' }),
    expected: z
      .tuple([z.number().nullable(), z.number().nullable()])
      .readonly()
      .nullable()
      .meta({ description: 'The usual range; null at an end without a bound.' }),
    count: Count.nullable().meta({ description: 'Number of occurrences; for drift, the number of compared devices.' }),
    pattern: z
      .strictObject({ from: ClockTime, to: ClockTime, days: Count })
      .nullable()
      .meta({ description: 'The time of day at which it recurs, on `count` of `days` days.' }),
    reason: z.string().nullable().meta({ description: 'Reason of the rejections; rejected only.' }),
    text: z.string().meta({ description: 'The finding as a sentence, in the units of the answer.' }),
  })
  .meta({ id: 'Finding' })
export type Finding = z.infer<typeof Finding>

export const FleetFinding = z.strictObject({ device: z.string(), ...Finding.shape }).meta({ id: 'FleetFinding' })
export type FleetFinding = z.infer<typeof FleetFinding>

/** Worst first. */
export const Findings = z.array(Finding).max(findingsMax)
