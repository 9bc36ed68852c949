/** Schemas of a metric: the record, its creation and its change; limits of the number of metrics. */

import { z } from 'zod'
import { plainText } from '../plain-text.ts'
import { MetricName, NewMetricName } from './metric-name.ts'
import { signOf, unitOf } from './units.ts'

/**
 * The statistics that are valid for its values:
 *
 * - `gauge`: means, extremes and all other statistics;
 * - `counter`: a running total that may start again from 0: rates and increases, never a mean of the total;
 * - `direction`: an angle: circular statistics;
 * - `state`: a small integer or boolean: the time in each state, never a mean;
 * - `rate`: a quantity for an interval, such as the rain of five minutes: sums over longer steps.
 */
export const metricKinds = ['gauge', 'counter', 'direction', 'state', 'rate'] as const
export type MetricKind = (typeof metricKinds)[number]

/** Each metric is in memory, and in a list of some kilobytes for the pages. */
export const metricsMax = 10_000
/** Created by readings of owned devices. Administrators and devices without an owner use the rest. */
export const metricsOfOwnersMax = 8_000
export const metricsPerDeviceMax = 64

const limit = z.number().min(-1e6).max(1e6).nullable()
const size = z.number().positive().max(1e6).nullable()

/** An omitted field keeps its default. Null switches a check off. */
export const MetricLimits = z
  .strictObject({
    /** Bounds of the usual range. */
    min: limit,
    max: limit,
    /** Largest distance from the mean of the readings before and after. */
    spike: size,
    /** Largest change in a minute. Changes over hours scale in proportion. */
    rate: size,
    /** A flat line is suspect after this time. By default the sensor's own runs decide. */
    flat_hours: size,
    /** The sensor's smallest step. By default its readings decide. */
    quantum: size,
  })
  .partial()
  .refine(({ min, max }) => (min ?? -Infinity) < (max ?? Infinity), { path: ['min'], message: 'must be less than max' })

const unitTextMax = 32

/** A UCUM code. Other spellings of a known unit are converted to its code. */
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
  /** Unit of the stored values. Null for values without a unit. */
  unit: UnitCode.nullable(),
  kind: z.enum(metricKinds),
  /** Decimal places shown. */
  decimals: z.int().min(0).max(10),
  /** Lower values are rejected. */
  min: bound.nullable(),
  /** Higher values are rejected. */
  max: bound.nullable(),
  /** Default limits of suspect values. A device's own limits take precedence. */
  quality: MetricLimits.nullable(),
  /** Colour of its lines. Null: by position. */
  color: z
    .string()
    .regex(/^#[0-9a-f]{6}$/, 'must be a colour such as #1f77b4')
    .nullable(),
  /** Ascending order in lists. Equal positions list the older metric first. */
  position: z.int().min(0).max(metricPositionMax),
}

export const Metric = z.object({
  name: MetricName,
  ...fields,
  unit: z.string().nullable(),
  color: z.string().nullable(),
  /** True for the five metrics that are columns of the table of readings. */
  built_in: z.boolean(),
})
/** Immutable: a change creates a new object. */
export type Metric = Readonly<z.infer<typeof Metric>> & {
  /** The registry's number, never reused. */
  readonly id: number
}

const isRange = ({ min, max }: { min?: number | null | undefined; max?: number | null | undefined }) =>
  (min ?? -Infinity) < (max ?? Infinity)
const rangeIssue = { path: ['min'], message: 'must be less than max' }

/** Omitted fields come from the catalogue. An unknown field is rejected, since a typing error would otherwise pass. */
export const NewMetric = z
  .strictObject({ ...fields })
  .partial()
  .extend({ name: NewMetricName })
  .refine(isRange, rangeIssue)
export type NewMetric = z.infer<typeof NewMetric>

/** The name never changes: answers and stored series refer to it. */
export const MetricChange = z
  .strictObject({ ...fields })
  .partial()
  .refine(change => Object.keys(change).length > 0, 'must name at least one field to change')
  .refine(isRange, rangeIssue)
  .meta({ minProperties: 1 })
export type MetricChange = z.infer<typeof MetricChange>

export function descriptionOf({ title, kind, unit, decimals }: Pick<Metric, 'title' | 'kind' | 'unit' | 'decimals'>) {
  return { title, kind, unit: unit === null ? null : signOf(unit), decimals }
}
