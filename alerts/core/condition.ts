/** Conditions of rules. Each kind is evaluated in its own way. */

import { z } from 'zod'
import { MetricName } from '../../store/metrics/metric-name.ts'

const yearSeconds = 31_622_400
const weekSeconds = 604_800

const afterSeconds = z.int().min(1).max(yearSeconds).optional()
/** The distance of a value from its threshold at which the rule clears. */
const hysteresis = z.number().min(0).default(0)
const share = z.number().min(0).max(1)

const Silent = z
  .strictObject({ kind: z.literal('silent'), after_seconds: afterSeconds })
  .meta({ description: 'Without `after_seconds`, from when the fleet page shows the device as silent.' })

const threshold = { metric: MetricName, value: z.number(), hysteresis }
const Above = z.strictObject({ kind: z.literal('above'), ...threshold })
const Below = z.strictObject({ kind: z.literal('below'), ...threshold })

const Change = z
  .strictObject({
    kind: z.literal('change'),
    metric: MetricName,
    value: z.number().refine(value => value !== 0, 'must not be 0'),
    absolute: z.boolean().default(false),
    window_seconds: z.int().min(60).max(weekSeconds),
    hysteresis,
  })
  .meta({ description: 'The sign of `value` is the direction of the change; with `absolute`, both count.' })

const Battery = z
  .strictObject({
    kind: z.literal('battery'),
    metric: z.enum(['battery_voltage', 'battery_percentage']).optional(),
    value: z.number().optional(),
    hysteresis,
    days: z.number().min(1).max(365).optional(),
  })
  .refine(
    ({ metric, value, days }) => (metric !== undefined && value !== undefined) !== (days !== undefined),
    'must have either metric and value, or days',
  )
  .refine(({ metric, value }) => (metric === undefined) === (value === undefined), 'must have metric and value')

const Completeness = z.strictObject({ kind: z.literal('completeness'), share })
const Suspect = z.strictObject({ kind: z.literal('suspect'), share, metric: MetricName.optional() }).meta({
  description: 'Of the readings of a full hour; without `metric`, of all built-in ones. A flat line is a share of 1.',
})

const Unusual = z.strictObject({ kind: z.literal('unusual'), metric: MetricName }).meta({
  description: 'The gauge behaves unlike its own four weeks before; see /docs/statistics.',
})

const SiteSilent = z.strictObject({
  kind: z.literal('site_silent'),
  share,
  count: z.int().min(1).default(1),
  after_seconds: afterSeconds,
})

/** Facts about the service itself. */
export const serviceFacts = [
  'questdb_away',
  'forwarding_late',
  'dead_letters',
  'disk_full',
  'journal_full',
  'clock_stepped',
] as const
export type ServiceFact = (typeof serviceFacts)[number]

const Service = z.strictObject({
  kind: z.literal('service'),
  fact: z.enum(serviceFacts),
  /** The rule fires when the disk will be full in fewer days. */
  days: z.number().min(0).max(365).optional(),
  /** The rule fires when the journal is filled beyond this share. */
  share: share.optional(),
})

export const Condition = z.discriminatedUnion('kind', [
  Silent,
  Above,
  Below,
  Change,
  Battery,
  Completeness,
  Suspect,
  Unusual,
  SiteSilent,
  Service,
])
export type Condition = z.infer<typeof Condition>

/** The metric of the condition. Undefined for a condition without one. */
export function metricOf(condition: Condition): string | undefined {
  return 'metric' in condition ? condition.metric : undefined
}

export interface Fact {
  readonly fact: ServiceFact
  /**
   * Seconds for which QuestDB has been away. Seconds for which it lacks a reading, a replica is behind or no process forwards to it.
   * Dead letters, days until the disk is full (Infinity: never), the share of the journal that is full, steps of the clock within
   * the last hour.
   */
  readonly value: number
  /** The observation as a sentence. */
  readonly text: string
}

const diskDays = 7
const journalShare = 0.5
/** Beyond this, `/health/ready` is degraded, too. */
const lateSeconds = 60

export function holds(condition: Extract<Condition, { kind: 'service' }>, { value }: Fact): boolean {
  if (condition.fact === 'disk_full') return value < (condition.days ?? diskDays)
  if (condition.fact === 'journal_full') return value > (condition.share ?? journalShare)
  if (condition.fact === 'forwarding_late') return value > lateSeconds
  return value > 0
}
