/** The rows of alerts with the texts of their rules. */

import type { AlertRow, AlertState } from '../core/alert.ts'
import type { Rule, Severity } from '../core/rule.ts'

export interface AlertRecord {
  id: string
  rule_id: number
  rule: string
  owner: number | null
  selector: Rule['selector']
  note: string
  /** Its number; 0 without one. */
  device: number
  metric: string | null
  severity: Severity
  state: AlertState
  flapping: boolean
  opened_at: Date
  fired_at: Date | null
  resolved_at: Date | null
  resolved_reason: string | null
  value: number | null
  acknowledged_by: string | null
  acknowledged_at: Date | null
}

export const alertTables = 'alerts AS a JOIN alert_rules AS r ON r.id = a.rule_id'

export const alertColumns = `a.id, rule_id, r.name AS rule, owner, selector, note, device, metric, a.severity, state, flapping,
  opened_at, fired_at, resolved_at, resolved_reason, value, acknowledged_by, acknowledged_at`

export function alertRowOf(record: AlertRecord, device: string | null, silenced_by: number | null): AlertRow {
  const { selector: _, device: device_number, opened_at, fired_at, resolved_at, acknowledged_at, ...fields } = record
  return {
    ...fields,
    device,
    device_number,
    opened_at: opened_at.toISOString(),
    fired_at: isoOrNull(fired_at),
    resolved_at: isoOrNull(resolved_at),
    acknowledged_at: isoOrNull(acknowledged_at),
    silenced_by,
  }
}

export function isoOrNull(time: Date | null): string | null {
  return time?.toISOString() ?? null
}
