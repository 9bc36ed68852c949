/** The content of a notification, which all channels render. */

import type { Condition } from './condition.ts'
import type { Severity } from './rule.ts'

export type MessageType = 'alert.firing' | 'alert.resolved' | 'alert.repeat' | 'alert.flapping' | 'alert.test'

/** State of an alert in a notification. */
type ReportedState = 'firing' | 'resolved' | 'flapping'

export interface MessageAlert {
  id: string
  state: ReportedState
  /** Null where it is about all devices of the rule, or about the service. */
  device: string | null
  location: string
  metric: string | null
  value: number | null
  /** Unit of the value; null for a share and for values without a unit. */
  unit: string | null
  fired_at: string
  resolved_at: string | null
  acknowledged_by: string | null
  /** The URL of the page of the device, or of the alerts. */
  url: string
}

export interface Message {
  type: MessageType
  /** Time at which the message was made. */
  timestamp: string
  rule: { id: number; name: string; severity: Severity; note: string; condition: Condition }
  /** Tag and value of the group; null without grouping. */
  group: { tag: string; value: string } | null
  /** Counts of the group. Silenced alerts are in no other count. */
  counts: { firing: number; resolved: number; flapping: number; silenced: number }
  /** Devices that are counted and not named. */
  devices_left_out: number
  /** News first, then by time, latest first. */
  alerts: MessageAlert[]
  /** The URL of the page of the rule's alerts. */
  url: string
}

/** Addresses of the pages that a message links to. */
export function deviceUrl(publicUrl: string, device: string): string {
  return `${publicUrl}/device/${encodeURIComponent(device)}`
}

export function ruleAlertsUrl(publicUrl: string, rule: number): string {
  return `${publicUrl}/alerts?rule=${rule}`
}
