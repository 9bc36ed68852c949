/** Rules: devices, condition, duration, and the channels to notify. */

import { z } from 'zod'
import { Selector } from '../../auth/devices/selector.ts'
import { plainText } from '../../store/plain-text.ts'
import { bounds } from './bounds.ts'
import { Condition } from './condition.ts'

export const severities = ['info', 'warning', 'critical'] as const
export type Severity = (typeof severities)[number]

const durationSeconds = z.int().min(0).max(604_800)

const TagKey = z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be the key of a tag')

const fields = {
  name: plainText({ min: 1, max: 64 }),
  /** Null for facts about the service itself. */
  selector: Selector.nullable(),
  condition: Condition,
  for_seconds: durationSeconds,
  keep_firing_seconds: durationSeconds,
  severity: z.enum(severities),
  /** Ids of channels. */
  channels: z
    .array(z.int().min(1))
    .max(bounds.channelsPerRule)
    .refine(ids => new Set(ids).size === ids.length, 'must not have a channel twice'),
  /** The key of the tag by whose values notifications are grouped. */
  group_by: TagKey.nullable(),
  enabled: z.boolean(),
  /** Instructions, shown in notifications. */
  note: plainText({ max: 1024 }),
}

const { selector, for_seconds, keep_firing_seconds, severity, channels, group_by, enabled, note } = fields

export const NewRule = z
  .strictObject({
    ...fields,
    selector: selector.default(null),
    for_seconds: for_seconds.default(0),
    keep_firing_seconds: keep_firing_seconds.default(0),
    severity: severity.default('warning'),
    channels: channels.default([]),
    group_by: group_by.default(null),
    enabled: enabled.default(true),
    note: note.default(''),
  })
  .refine(rule => (rule.selector === null) === (rule.condition.kind === 'service'), {
    path: ['selector'],
    error: 'must be there, but for a rule of the service',
  })
export type NewRule = z.infer<typeof NewRule>

/** The changed rule must pass the schema of a new one: some fields depend on others. */
export const RuleChange = z.strictObject(fields).partial()
export type RuleChange = z.infer<typeof RuleChange>

export interface Rule extends NewRule {
  readonly id: number
  /** An account; null: of the service, that is of its administrators. */
  readonly owner: number | null
  /** It grows with each change of the selector, the condition or the durations. */
  readonly version: number
  readonly created_at: string
}

/** The fields that the rule's evaluation depends on. */
export type RuleCore = Pick<Rule, 'condition' | 'for_seconds' | 'keep_firing_seconds'>

/** Alerts are of a device each, but for rules of a whole selector or of the service: theirs have this number. */
export const noDevice = 0

export function isOfWhole({ kind }: Condition): boolean {
  return kind === 'site_silent' || kind === 'service'
}

/** The value of the tag `group_by`; empty without such a tag, and where alerts are not grouped by a tag. */
export function groupValue(groupBy: string | null, tags: readonly string[]): string {
  if (groupBy === null) return ''
  const prefix = `${groupBy}:`
  return tags.find(tag => tag.startsWith(prefix))?.slice(prefix.length) ?? ''
}
