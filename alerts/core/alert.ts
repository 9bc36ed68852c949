/** An alert: the findings of one rule on one device, from pending to resolved. */

import { z } from 'zod'
import { severities } from './rule.ts'

export const alertStates = ['pending', 'firing', 'resolved'] as const
export type AlertState = (typeof alertStates)[number]

const time = z.iso.datetime()

export const Alert = z.object({
  id: z.string(),
  rule_id: z.int(),
  rule: z.string().meta({ description: 'The name of the rule' }),
  severity: z.enum(severities),
  state: z.enum(alertStates),
  flapping: z.boolean(),
  device: z.string().nullable().meta({
    description: 'Null where it is about all devices of the rule, about the service, or about a removed device',
  }),
  metric: z.string().nullable(),
  value: z
    .number()
    .nullable()
    .meta({ description: 'The last one that was taken, in the unit of the metric, or a share' }),
  note: z.string().meta({ description: 'The note of the rule' }),
  opened_at: time,
  fired_at: time.nullable(),
  resolved_at: time.nullable(),
  resolved_reason: z.string().nullable().meta({ description: '`cleared`, or why else it has ended' }),
  acknowledged_by: z.string().nullable(),
  acknowledged_at: time.nullable(),
  silenced_by: z.int().nullable().meta({ description: 'The id of a silence that holds its notifications at present' }),
})
export type Alert = z.infer<typeof Alert>

/** Owner and device number (0: none) decide which accounts see the alert. */
export interface AlertRow extends Alert {
  owner: number | null
  device_number: number
}

export const AlertEventRow = z.object({
  at: time,
  kind: z.string().meta({
    description: '`pending`, `firing`, `resolved`, `flapping`, `settled`, `acknowledged`, `notified` or `silenced`',
  }),
  details: z.record(z.string(), z.unknown()),
})
export type AlertEventRow = z.infer<typeof AlertEventRow>

export const AlertDetails = Alert.extend({ events: z.array(AlertEventRow) })

/** Limit of groups in an answer, which has the largest ones. */
export const firingGroupsMax = 1000

export const FiringGroups = z.object({
  key: z.string(),
  groups: z.array(z.object({ tag: z.string(), devices: z.int() })).max(firingGroupsMax),
  others: z.int().meta({ description: 'Devices of groups beyond those listed' }),
  untagged: z.int().meta({ description: 'Devices without a tag of the key' }),
})
export type FiringGroups = z.infer<typeof FiringGroups>
