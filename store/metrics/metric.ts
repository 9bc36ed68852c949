/** What a metric is: the shapes of a record, of what makes one and of what changes one. */

import { z } from 'zod'
import { plainText } from '../plain-text.ts'
import { MetricLimits } from './metric-limits.ts'
import { MetricName, NewMetricName } from './metric-name.ts'
import { unitOf } from './units.ts'

/**
 * What is right to compute of its values:
 *
 * - `gauge`: means, extremes and all other statistics;
 * - `counter`: a running total that may start again from 0: rates and increases, never a mean of the total;
 * - `direction`: an angle: circular statistics;
 * - `state`: a small integer or boolean: the time in each state, never a mean;
 * - `rate`: a quantity for an interval, such as the rain of five minutes: sums over longer steps.
 */
export const metricKinds = ['gauge', 'counter', 'direction', 'state', 'rate'] as const
export type MetricKind = (typeof metricKinds)[number]

const unitTextMax = 32

/** A UCUM code; another spelling of a unit that is known becomes its code. */
const UnitCode = z
  .string()
  .max(unitTextMax, `must have at most ${unitTextMax} characters`)
  .transform((text, context) => {
    const unit = unitOf(text)
    if (unit !== undefined) return unit.code
    context.addIssue({ code: 'custom', message: 'is not a known unit; see the catalogue, or leave it out' })
    return z.NEVER
  })

const bound = z.number().min(-1e15).max(1e15)

const metricPositionMax = 1_000_000

const fields = {
  title: plainText({ min: 1, max: 64 }),
  /** Of the values as they are stored; null where they have none. */
  unit: UnitCode.nullable(),
  kind: z.enum(metricKinds),
  /** Shown behind the point. */
  decimals: z.int().min(0).max(10),
  /** Values below it are refused. */
  min: bound.nullable(),
  /** Values above it are refused. */
  max: bound.nullable(),
  /** From where on values are suspect, unless their device says otherwise. */
  quality: MetricLimits.nullable(),
  /** Of its lines; by its position when null. */
  color: z
    .string()
    .regex(/^#[0-9a-f]{6}$/, 'must be a colour such as #1f77b4')
    .nullable(),
  /** In lists, ascending; of the same ones, the older metric is first. */
  position: z.int().min(0).max(metricPositionMax),
}

export const Metric = z.object({
  name: MetricName,
  ...fields,
  unit: z.string().nullable(),
  color: z.string().nullable(),
  /** One of the five that are columns of the table of readings. */
  built_in: z.boolean(),
})
/** Never changed: a change makes a new one. */
export type Metric = Readonly<z.infer<typeof Metric>> & {
  /** The registry's number, never reused. */
  readonly id: number
}

const isRange = ({ min, max }: { min?: number | null | undefined; max?: number | null | undefined }) =>
  (min ?? -Infinity) < (max ?? Infinity)
const rangeIssue = { path: ['min'], message: 'must be less than max' }

/** What is left out is as the catalogue has it. An unknown field is refused, since a typing error would otherwise pass. */
export const NewMetric = z
  .strictObject({ ...fields })
  .partial()
  .extend({ name: NewMetricName })
  .refine(isRange, rangeIssue)
export type NewMetric = z.infer<typeof NewMetric>

/** The name is for ever: answers and stored series are known by it. */
export const MetricChange = z
  .strictObject({ ...fields })
  .partial()
  .refine(change => Object.keys(change).length > 0, 'must name at least one field to change')
  .refine(isRange, rangeIssue)
  .meta({ minProperties: 1 })
export type MetricChange = z.infer<typeof MetricChange>
