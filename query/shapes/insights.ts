/** Response of `/api/fleet/insights`. */

import { z } from 'zod'
import { findingsMax } from '../../analytics/findings/finding.ts'
import { FleetFinding } from './findings.ts'
import { customMetrics } from './kinds.ts'
import { Count } from './parts.ts'

/** The most entries of each kind. */
export const insightsMax = 200

const Left = z.number().nonnegative()
const BatteryInsight = z.strictObject({
  device: z.string(),
  days_left: Left.meta({ description: 'Days from now until the battery is empty.' }),
  low: Left.meta({ description: 'Lower end of the 95 % interval of `days_left`.' }),
  high: Left.meta({ description: 'Upper end of the 95 % interval of `days_left`.' }),
  metric: z.string().meta({ description: '`battery_percentage`, `battery_voltage`, or another gauge of a battery.' }),
  percent_per_day: z
    .number()
    .negative()
    .meta({ description: 'Percent of the charge; converted from a voltage by the type of battery.' }),
})
export type BatteryInsight = z.infer<typeof BatteryInsight>

const OutlierInsight = z.strictObject({
  device: z.string(),
  metric: z.string(),
  value: z.number().meta({ description: 'The mean of the last 24 hours.' }),
  median: z.number().meta({ description: 'Expected value, had the device changed as its peers did.' }),
  score: z.number().meta({
    description:
      'The difference in units of its usual size: beyond 5.5 or -5.5; for a custom gauge, and for a device without peers, beyond 9 or -9.',
  }),
  peers: Count.meta({
    description:
      'Number of compared devices; 0: the device has no peers, and the median comes from its own earlier days.',
  }),
})
export type OutlierInsight = z.infer<typeof OutlierInsight>

export const Insights = z.strictObject({
  generated_at: z.int().meta({ description: 'Milliseconds since 1970' }),
  findings: z
    .array(FleetFinding)
    .max(findingsMax)
    .meta({ description: 'Worst first; the first ones of findings_total.' }),
  findings_total: Count,
  batteries: z
    .array(BatteryInsight)
    .max(insightsMax)
    .meta({ description: 'Soonest first; the first ones of batteries_total.' }),
  batteries_total: Count,
  batteries_low: z
    .array(z.string())
    .max(insightsMax)
    .meta({ description: 'Devices with a low battery and an unknown date of its end, as in battery_level.' }),
  outliers: z
    .array(OutlierInsight)
    .max(insightsMax)
    .meta({ description: 'Largest score first; the first ones of outliers_total.' }),
  outliers_total: Count,
  gauges_left_out: Count.meta({
    description:
      'Gauges beside temperature, humidity, pressure and the battery that were skipped: all of them if there are more than 4,000.',
  }),
  ...customMetrics,
})
export type Insights = z.infer<typeof Insights>
