/** Due groups and their subjects. */

import type pg from 'pg'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { Rule } from '../core/rule.ts'

type Database = Pick<pg.Pool, 'query'>

/** The longest due first. */
export async function readDueGroups(database: Database, dueMs: number, limit: number): Promise<string[]> {
  const text =
    'SELECT id FROM alert_groups WHERE due_at <= to_timestamp($1::float8 / 1000) ORDER BY due_at, id LIMIT $2'
  const { rows } = await database.query<{ id: string }>(text, [dueMs, limit])
  return rows.map(({ id }) => id)
}

/** Infinity where none is. */
export async function readNextDueMs(database: Database): Promise<number> {
  const { rows } = await database.query<{ due: Date | null }>('SELECT min(due_at) AS due FROM alert_groups')
  return rows[0]?.due?.getTime() ?? Number.POSITIVE_INFINITY
}

export interface DueGroup {
  channel: { id: number; name: string; kind: string }
  rule: Pick<Rule, 'id' | 'name' | 'owner' | 'selector' | 'condition' | 'severity' | 'note' | 'group_by'>
  /** Value of the tag that separates groups of the rule. */
  value: string
  /** NaN for none. */
  lastSentMs: number
  /** True while its channel is enabled. */
  isOpen: boolean
}

interface Record extends Omit<DueGroup['rule'], 'id' | 'name'> {
  channel_id: number
  channel: string
  kind: string
  is_open: boolean
  rule_id: number
  rule: string
  value: string
  last_sent_at: Date | null
}

/** Undefined where the group is no longer due, or another transaction holds it. Locks its pending alerts until the end. */
export async function lockDueGroup(transaction: Transaction, id: string, nowMs: number): Promise<DueGroup | undefined> {
  const { rows } = await transaction.query<Record>(
    `SELECT channel_id, c.name AS channel, kind, c.enabled AND c.removed_at IS NULL AS is_open, rule_id, r.name AS rule, r.owner,
       selector, condition, severity, note, group_by, value, last_sent_at
     FROM alert_groups AS g JOIN alert_channels AS c ON c.id = channel_id JOIN alert_rules AS r ON r.id = rule_id
     WHERE g.id = $1 AND due_at <= to_timestamp($2::float8 / 1000) FOR UPDATE OF g SKIP LOCKED`,
    [id, nowMs],
  )
  const [row] = rows
  if (row === undefined) return undefined
  const { channel_id, channel, kind, is_open: isOpen, rule_id, rule, value, last_sent_at, ...fields } = row
  return {
    channel: { id: channel_id, name: channel, kind },
    rule: { id: rule_id, name: rule, ...fields },
    value,
    lastSentMs: last_sent_at?.getTime() ?? Number.NaN,
    isOpen,
  }
}

export async function saveGroup(
  transaction: Transaction,
  id: string,
  { lastSentMs, dueMs }: { lastSentMs: number; dueMs: number | undefined },
): Promise<void> {
  await transaction.query(
    `UPDATE alert_groups SET last_sent_at = to_timestamp($2::float8 / 1000), due_at = to_timestamp($3::float8 / 1000)
     WHERE id = $1`,
    [id, Number.isNaN(lastSentMs) ? null : lastSentMs, dueMs ?? null],
  )
}

export async function postponeGroup(database: Database, id: string, dueMs: number): Promise<void> {
  await database.query('UPDATE alert_groups SET due_at = to_timestamp($2::float8 / 1000) WHERE id = $1', [id, dueMs])
}

/**
 * First notifications of alerts from before the start. Their wait began in an ended process, and each restart would
 * begin it again.
 */
export async function hastenFirst(
  database: Database,
  { startMs, dueMs, groupWaitMs }: { startMs: number; dueMs: number; groupWaitMs: number },
): Promise<void> {
  await database.query(
    `UPDATE alert_groups SET due_at = to_timestamp($2::float8 / 1000)
     WHERE last_sent_at IS NULL AND due_at > to_timestamp($2::float8 / 1000)
       AND due_at < to_timestamp(($1::float8 + $3::float8) / 1000)
       AND EXISTS (SELECT FROM alert_group_alerts WHERE group_id = alert_groups.id AND owes IS NOT NULL)`,
    [startMs, dueMs, groupWaitMs],
  )
}

/** After the clock was set back, a pending group that would wait longer than any delay is due now. */
export async function hastenGroups(database: Database, nowMs: number, waitMsMax: number): Promise<void> {
  await database.query(
    `UPDATE alert_groups SET due_at = to_timestamp($1::float8 / 1000)
     WHERE due_at > to_timestamp(($1::float8 + $2::float8) / 1000)
       AND EXISTS (SELECT FROM alert_group_alerts WHERE group_id = alert_groups.id AND owes IS NOT NULL)`,
    [nowMs, waitMsMax],
  )
}
