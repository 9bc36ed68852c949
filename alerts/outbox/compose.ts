/** Writes the message of a notification from the alerts of its group. */

import type { AlertDevice } from '../core/devices.ts'
import { deviceUrl, type Message, type MessageAlert, type MessageType, ruleAlertsUrl } from '../core/message.ts'
import { noDevice, type Rule } from '../core/rule.ts'
import type { Member } from './member-rows.ts'
import type { NotificationKind } from './notification-rows.ts'

export interface ComposeOptions {
  rule: Pick<Rule, 'id' | 'name' | 'severity' | 'note' | 'condition' | 'group_by'>
  /** Value of the tag that separates groups of the rule. */
  value: string
  nowMs: number
  publicUrl: string
  deviceOf: (number: number) => Pick<AlertDevice, 'name' | 'location_short'> | undefined
  unitOf: (metric: string) => string | null
}

const typeOf: Record<NotificationKind, MessageType> = {
  firing: 'alert.firing',
  resolved: 'alert.resolved',
  flapping: 'alert.flapping',
  repeat: 'alert.repeat',
  refresh: 'alert.repeat',
  test: 'alert.test',
}

export function composeMessage(
  kind: NotificationKind,
  named: readonly Member[],
  counts: Message['counts'],
  options: ComposeOptions,
): Message {
  const { rule, value, nowMs, publicUrl } = options
  const { id, name, severity, note, condition } = rule
  return {
    type: typeOf[kind],
    timestamp: new Date(nowMs).toISOString(),
    rule: { id, name, severity, note, condition },
    group: groupOf(rule, value),
    counts,
    devices_left_out: counts.firing + counts.flapping + counts.resolved - named.length,
    alerts: named.map(member => alertOf(member, options)),
    url: ruleAlertsUrl(publicUrl, id),
  }
}

export function groupOf({ group_by }: Pick<Rule, 'group_by'>, value: string): Message['group'] {
  return group_by === null ? null : { tag: group_by, value }
}

function alertOf(member: Member, { rule, publicUrl, deviceOf, unitOf }: ComposeOptions): MessageAlert {
  const device = member.device === noDevice ? undefined : deviceOf(member.device)
  return {
    id: String(member.id),
    state: stateOf(member),
    device: device?.name ?? null,
    location: device?.location_short ?? '',
    metric: member.metric,
    value: member.value,
    unit: member.metric === null ? null : unitOf(member.metric),
    fired_at: member.fired_at.toISOString(),
    resolved_at: member.resolved_at?.toISOString() ?? null,
    acknowledged_by: member.acknowledged_by,
    url: device === undefined ? ruleAlertsUrl(publicUrl, rule.id) : deviceUrl(publicUrl, device.name),
  }
}

export function stateOf({ state, flapping }: Pick<Member, 'state' | 'flapping'>): MessageAlert['state'] {
  return state === 'resolved' ? 'resolved' : flapping ? 'flapping' : 'firing'
}
