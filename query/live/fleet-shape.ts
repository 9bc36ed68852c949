/** Responses of `fleet` and `latest/<device>`. Times are milliseconds since 1970. */

import { z } from 'zod'
import { trends } from '../../analytics/summary/pressure-tendency.ts'
import { type Metric, metrics } from '../../store/tables.ts'
import { airMetrics } from '../series.ts'
import { customMetrics } from '../shapes/kinds.ts'
import { Count } from '../shapes/parts.ts'
import { liveStates } from './live-state.ts'

/** A metric that each device may have. */
export type BuiltInMetric = Metric

/** Metrics without a value are left out. Custom ones have their names as keys. */
const bySomeMetrics = <Shape extends z.ZodType>(shape: Shape) =>
  z
    .object(
      Object.fromEntries(metrics.map(metric => [metric, shape.exactOptional()])) as Record<
        Metric,
        z.ZodExactOptional<Shape>
      >,
    )
    .catchall(shape)

const state = {
  device: z.string(),
  location_short: z.string(),
  state: z.enum(liveStates),
  last_seen: z.int().nullable(),
}

const FleetDevice = z.strictObject({
  ...state,
  tags: z.array(z.string()).exactOptional().meta({ description: 'Only where it has any.' }),
  expected_interval_seconds: z.number().nonnegative().nullable(),
  values: bySomeMetrics(z.number()),
  hours: z
    .string()
    .regex(/^[ABCD-]{24}$/)
    .meta({
      description:
        'The last 24 full hours, oldest first: A no reading, B under half of the expected readings, C under 90 %, D complete, - before the first reading.',
    }),
})
export type FleetDevice = z.infer<typeof FleetDevice>

const StateCounts = z.record(z.enum(liveStates), Count)

export const Fleet = z.strictObject({
  generated_at: z.int(),
  time_zone: z.string(),
  counts: StateCounts.meta({
    description: 'Of the whole fleet, or of the devices that the reader may read; with `tag`, of those with the tags.',
  }),
  devices: z.array(FleetDevice),
  ...customMetrics,
  next: z.string().nullable().meta({ description: 'For `after`; null on the last page.' }),
  missing: z.string().optional().meta({
    description: 'Which stored readings QuestDB lacks, from when to when; until they are back, none can be read.',
  }),
  catching_up: z.literal(true).optional().meta({ description: 'Some readings may be missing still.' }),
})
export type Fleet = z.infer<typeof Fleet>

/** The most groups of an answer; of more, those with the most devices are kept. */
export const groupsMax = 1000

export const FleetGroups = z.strictObject({
  generated_at: z.int(),
  key: z.string(),
  groups: z
    .array(z.strictObject({ tag: z.string(), counts: StateCounts }))
    .max(groupsMax)
    .meta({ description: 'By their tags; the largest ones where there are more.' }),
  groups_total: Count,
  others: StateCounts.meta({ description: 'Of the devices of groups beyond those listed.' }),
  untagged: StateCounts.meta({ description: 'Of the devices without a tag of the key.' }),
})
export type FleetGroups = z.infer<typeof FleetGroups>

/** Degrees; it does not pass the 180th meridian. */
export const MapBox = z.strictObject({
  west: z.number().min(-180).max(180),
  south: z.number().min(-90).max(90),
  east: z.number().min(-180).max(180),
  north: z.number().min(-90).max(90),
})
export type MapBox = z.infer<typeof MapBox>

/** The most marks of an answer: 25 by 25 cells of a grid. */
const marksMax = 625

export const FleetMap = z.strictObject({
  generated_at: z.int(),
  extent: MapBox.nullable().meta({
    description: 'Of all devices that are asked for, in the box or not; null where none has coordinates.',
  }),
  marks: z
    .array(
      z.strictObject({
        latitude: z.number(),
        longitude: z.number(),
        extent: MapBox,
        counts: StateCounts,
        devices: z
          .array(z.strictObject({ device: z.string(), location_short: z.string(), state: z.enum(liveStates) }))
          .meta({ description: 'Worst first: all, or the first of them.' }),
      }),
    )
    .max(marksMax)
    .meta({
      description: 'Devices that are close together are one mark, at the mean of their coordinates. The largest first.',
    }),
  unplaced: StateCounts.meta({ description: 'Of the devices without coordinates.' }),
})
export type FleetMap = z.infer<typeof FleetMap>

export const LatestOfDevice = z.strictObject({
  ...state,
  values: bySomeMetrics(z.strictObject({ v: z.number(), ts: z.int(), unit: z.string() })).meta({
    description: 'In the order in which the metrics of the device are shown.',
  }),
  ...customMetrics,
})
export type LatestOfDevice = z.infer<typeof LatestOfDevice>

export const FleetTrends = z.strictObject({
  generated_at: z.int(),
  until: z.int().meta({ description: 'The end of the last of the 24 full hours.' }),
  devices: z.array(
    z.strictObject({
      device: z.string(),
      metric: z.enum(airMetrics).meta({ description: 'The first of these that the device has sent within a day.' }),
      means: z
        .array(z.number().nullable())
        .length(24)
        .meta({ description: 'Of the last 24 full hours, oldest first; null without a value.' }),
      change: z.number().nullable().meta({ description: 'In three hours; null where too little is known.' }),
      trend: z.enum(trends).nullable(),
    }),
  ),
})
export type FleetTrends = z.infer<typeof FleetTrends>
export type { Trend } from '../../analytics/summary/pressure-tendency.ts'
