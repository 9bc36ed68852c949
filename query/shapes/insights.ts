/** What `/api/fleet/insights` answers. */

import { z } from 'zod'
import { findingsMax } from '../../analytics/findings/rank.ts'
import { FleetFinding } from './findings.ts'
import { customMetrics } from './kinds.ts'
import { Count } from './parts.ts'

/** Of each kind as many are listed. */
export const insightsMax = 200

const Left = z.number().nonnegative()
const BatteryInsight = z.strictObject({
  device: z.string(),
  days_left: Left.meta({ description: 'Days from now on until the battery is empty.' }),
  low: Left.meta({ description: 'The lower end of the 95 % interval of that.' }),
  high: Left.meta({ description: 'The upper end.' }),
  metric: z.string().meta({ description: '`battery_percentage`, `battery_voltage`, or another gauge of a battery.' }),
  percent_per_day: z
    .number()
    .negative()
    .meta({ description: 'Of the charge; by a voltage, as the type of battery has it.' }),
})
export type BatteryInsight = z.infer<typeof BatteryInsight>

const OutlierInsight = z.strictObject({
  device: z.string(),
  metric: z.string(),
  value: z.number().meta({ description: 'The mean of the last 24 hours.' }),
  median: z.number().meta({ description: 'Expected value, had the device changed as devices like it did.' }),
  score: z.number().meta({
    description:
      'The difference in units of its usual size: beyond 5.5 or -5.5, of a custom gauge or of a device that no other is like beyond 9 or -9.',
  }),
  peers: Count.meta({
    description:
      'Devices like it that it was compared with; 0: there are none, and the median is of its own days before.',
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
      'Gauges beside temperature, humidity, pressure and the battery that were not looked at: all of them where there are more than 4,000.',
  }),
  ...customMetrics,
})
export type Insights = z.infer<typeof Insights>
