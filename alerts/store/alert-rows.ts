/** Rows of alerts with the texts of their rules. */

import type pg from 'pg'
import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { AlertEventRow, AlertRow, AlertState } from '../core/alert.ts'
import { accountOf, type Owner } from '../core/outcome.ts'
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

const alertTables = 'alerts AS a JOIN alert_rules AS r ON r.id = a.rule_id'

const alertColumns = `a.id, rule_id, r.name AS rule, owner, selector, note, device, metric, a.severity, state, flapping,
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

type Database = Pick<pg.Pool, 'query'>

export interface AlertQuery {
  states?: readonly AlertState[]
  severities?: readonly Severity[]
  /** The number of one. */
  device?: number
  /** All must hold, of a device. */
  tag?: readonly string[]
  rule?: number
  /** Alerts that were resolved before are left out. */
  sinceMs?: number
  /** The maximum is 1,000. */
  limit: number
  /** The id of the last one of the page before. */
  after?: string
}

export interface AlertCount {
  state: AlertState
  severity: Severity
  count: number
}

const limitMax = 1_000
const eventsMax = 1_000

/** Newest first. `devices`: their numbers; null: all. */
export async function readAlertPage(
  database: Database,
  who: Owner,
  { states, severities, rule, sinceMs, limit, after }: AlertQuery,
  devices: readonly number[] | null,
): Promise<AlertRecord[]> {
  const text = `SELECT ${alertColumns} FROM ${alertTables}
    WHERE ($1::integer IS NULL OR owner = $1) AND ($2::text[] IS NULL OR state = ANY($2))
      AND ($3::text[] IS NULL OR a.severity = ANY($3)) AND ($4::int[] IS NULL OR device = ANY($4))
      AND ($5::integer IS NULL OR rule_id = $5)
      AND ($6::float8 IS NULL OR resolved_at IS NULL OR resolved_at >= to_timestamp($6 / 1000))
      AND ($7::bigint IS NULL OR a.id < $7)
    ORDER BY a.id DESC LIMIT $8`
  const before = after === undefined ? null : isAlertId(after) ? after : '0'
  const few = [accountOf(who), states ?? null, severities ?? null, devices, rule ?? null, sinceMs ?? null, before]
  return (await database.query<AlertRecord>(text, [...few, Math.min(limit, limitMax)])).rows
}

/** Undefined for an unknown alert, and for an alert of another owner. */
export async function readAlert(database: Database, who: Owner, id: string): Promise<AlertRecord | undefined> {
  if (!isAlertId(id)) return undefined
  const text = `SELECT ${alertColumns} FROM ${alertTables} WHERE a.id = $1 AND ($2::integer IS NULL OR owner = $2)`
  return (await database.query<AlertRecord>(text, [id, accountOf(who)])).rows[0]
}

/** Ids of the result ascend. */
export async function readAlerts(database: Database, ids: readonly number[]): Promise<AlertRecord[]> {
  if (ids.length === 0) return []
  const text = `SELECT ${alertColumns} FROM ${alertTables} WHERE a.id = ANY($1::bigint[]) ORDER BY a.id`
  return (await database.query<AlertRecord>(text, [ids])).rows
}

/** The latest, oldest first. When it was opened, and when one fired that still does, stands in its own row. */
export async function readEvents(
  database: Database,
  { id, state, opened_at, fired_at, value }: Pick<AlertRow, 'id' | 'state' | 'opened_at' | 'fired_at' | 'value'>,
): Promise<AlertEventRow[]> {
  // The firing event is written at its end and dated first.
  const text = `SELECT at, kind, details FROM alert_events WHERE alert_id = $1
    ORDER BY at DESC, kind = 'firing', id DESC LIMIT $2`
  const values = [id, eventsMax]
  const { rows } = await database.query<{ at: Date; kind: string; details: Record<string, unknown> }>(text, values)
  const later = rows.reverse().map(({ at, ...event }) => ({ at: at.toISOString(), ...event }))
  const pending = { at: opened_at, kind: 'pending', details: {} }
  if (state !== 'firing' || fired_at === null) return [pending, ...later]
  return [pending, { at: fired_at, kind: 'firing', details: value === null ? {} : { value } }, ...later]
}

/** Counts unresolved alerts. */
export async function readCounts(database: Database): Promise<AlertCount[]> {
  const { rows } = await database.query<AlertCount>(
    "SELECT state, severity, count(*)::int AS count FROM alerts WHERE state <> 'resolved' GROUP BY 1, 2 ORDER BY 1, 2",
  )
  return rows
}

/** The numbers of the devices on which alerts fire. */
export async function readFiringDevices(database: Database, who: Owner): Promise<number[]> {
  const { rows } = await database.query<{ device: number }>(
    `SELECT DISTINCT device FROM ${alertTables}
     WHERE state = 'firing' AND device <> 0 AND ($1::integer IS NULL OR owner = $1)`,
    [accountOf(who)],
  )
  return rows.map(({ device }) => device)
}

/** False where it is resolved, or acknowledged before. */
export async function acknowledgeAlert(
  transaction: Transaction,
  id: string,
  actor: string,
  nowMs: number,
): Promise<boolean> {
  const { rowCount } = await transaction.query(
    `WITH seen AS (
       UPDATE alerts SET acknowledged_by = $2, acknowledged_at = to_timestamp($3::float8 / 1000)
       WHERE id = $1 AND state <> 'resolved' AND acknowledged_at IS NULL RETURNING id, acknowledged_at
     )
     INSERT INTO alert_events (alert_id, at, kind, details)
     SELECT id, acknowledged_at, 'acknowledged', jsonb_build_object('by', $2::text) FROM seen`,
    [id, actor, nowMs],
  )
  return rowCount === 1
}

function isAlertId(text: string): boolean {
  return /^[1-9]\d{0,17}$/.test(text)
}

/** Maximum ids in one change of the feed. */
const idsMax = 1_000

export function noteAlerts(feed: ChangeFeed, transaction: Transaction, ids: readonly number[]): void {
  for (let from = 0; from < ids.length; from += idsMax) feed.note(transaction, 'alert', ids.slice(from, from + idsMax))
}
