/**
 * Pending notifications of groups: rows written in the transaction of their change. Rules, then channels, then alerts, then
 * groups are locked, and a group's row before its pending alerts, so that no two transactions wait for each other.
 */

import type pg from 'pg'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { Waits } from '../core/bounds.ts'
import type { Rule } from '../core/rule.ts'

/** Latest due time of a group with pending alerts. */
export interface Due {
  nowMs: number
  waits: Pick<Waits, 'groupWaitMs' | 'groupIntervalMs'>
}

export interface NewPending {
  alert: number
  rule: number
  /** Value of the tag that separates groups of the rule. */
  value: string
  owes: 'firing' | 'flapping'
}

/** No channel of these rules is removed or disabled until the end of the transaction. */
export async function lockChannels(transaction: Transaction, rules: readonly number[]): Promise<void> {
  await transaction.query(
    `SELECT FROM alert_channels JOIN alert_rule_channels ON channel_id = id
     WHERE rule_id = ANY($1::int[]) ORDER BY id FOR SHARE OF alert_channels`,
    [rules],
  )
}

/** A last notification after the present time was sent before the clock was set back. */
const dueSql = (now: string, wait: string, interval: string) =>
  `least(alert_groups.due_at, greatest(${moment(now)} + ${length(wait)},
     ${lastSent(moment(now))} + ${length(interval)}))`
const lastSent = (now: string) =>
  `CASE WHEN alert_groups.last_sent_at > ${now} THEN ${now} ELSE alert_groups.last_sent_at END`
const moment = (parameter: string) => `to_timestamp(${parameter}::float8 / 1000)`
const length = (parameter: string) => `${parameter}::float8 * interval '1 ms'`

/** Adds the alerts to the groups of each channel of the rule, or of these channels. */
export async function queuePending(
  transaction: Transaction,
  pending: readonly NewPending[],
  { nowMs, waits }: Due,
  channels: readonly number[] | null = null,
): Promise<void> {
  if (pending.length === 0) return
  await transaction.query(
    `WITH targets AS MATERIALIZED (
       SELECT alert, owes, rule, value, channel_id FROM jsonb_to_recordset($1::jsonb)
         AS given (alert bigint, rule integer, value text, owes text)
       JOIN alert_rule_channels ON rule_id = rule JOIN alert_channels ON channel_id = alert_channels.id
       WHERE enabled AND removed_at IS NULL AND ($5::int[] IS NULL OR channel_id = ANY($5::int[]))
     ), grouped AS (
       INSERT INTO alert_groups (channel_id, rule_id, value, due_at)
       SELECT DISTINCT channel_id, rule, value, ${moment('$2')} + ${length('$3')} FROM targets
       ORDER BY channel_id, rule, value
       ON CONFLICT (channel_id, rule_id, value) DO UPDATE SET due_at = ${dueSql('$2', '$3', '$4')}
       RETURNING id, channel_id, rule_id, value
     )
     INSERT INTO alert_group_alerts (group_id, alert_id, owes)
     SELECT grouped.id, alert, owes FROM targets JOIN grouped
       ON grouped.channel_id = targets.channel_id AND rule_id = rule AND grouped.value = targets.value
     ORDER BY 1, 2
     ON CONFLICT (group_id, alert_id) DO UPDATE SET owes = EXCLUDED.owes`,
    [JSON.stringify(pending), nowMs, waits.groupWaitMs, waits.groupIntervalMs, channels],
  )
}

interface Ended {
  alert: number
  /** True for alerts whose end is notified even without a notified start. */
  isTellable: boolean
}

/** Receivers of a firing or flapping notification are notified of its end. */
export async function queueEnds(transaction: Transaction, ended: readonly Ended[], due: Due): Promise<void> {
  const groups = await lockGroupsOf(
    transaction,
    ended.map(({ alert }) => alert),
  )
  if (groups.length === 0) return
  await transaction.query(
    `WITH given AS MATERIALIZED (
       SELECT alert, tellable FROM jsonb_to_recordset($1::jsonb) AS given (alert bigint, tellable boolean)
     ), gone AS (
       DELETE FROM alert_group_alerts USING given WHERE alert_id = alert AND told = 'nothing' AND NOT tellable
     )
     UPDATE alert_group_alerts SET owes = 'resolved' FROM given WHERE alert_id = alert AND told = 'firing'`,
    [JSON.stringify(ended.map(({ alert, isTellable }) => ({ alert, tellable: isTellable })))],
  )
  await makeDue(transaction, groups, due)
}

/** Receivers of a sent or pending firing notification are notified of flapping. */
export async function queueFlapping(transaction: Transaction, alerts: readonly number[], due: Due): Promise<void> {
  const groups = await lockGroupsOf(transaction, alerts)
  if (groups.length === 0) return
  const text = `UPDATE alert_group_alerts SET owes = 'flapping' WHERE alert_id = ANY($1::bigint[])`
  await transaction.query(text, [alerts])
  await makeDue(transaction, groups, due)
}

async function lockGroupsOf(transaction: Transaction, alerts: readonly number[]): Promise<string[]> {
  if (alerts.length === 0) return []
  const { rows } = await transaction.query<{ id: string }>(
    `SELECT id FROM alert_groups
     WHERE id IN (SELECT group_id FROM alert_group_alerts WHERE alert_id = ANY($1::bigint[])) ORDER BY id FOR UPDATE`,
    [alerts],
  )
  return rows.map(({ id }) => id)
}

/** A group that owes nothing stays as it is. */
async function makeDue(transaction: Transaction, groups: readonly string[], { nowMs, waits }: Due): Promise<void> {
  await transaction.query(
    `UPDATE alert_groups SET due_at = ${dueSql('$2', '$3', '$4')}
     WHERE id = ANY($1::bigint[])
       AND EXISTS (SELECT FROM alert_group_alerts WHERE group_id = alert_groups.id AND owes IS NOT NULL)`,
    [groups, nowMs, waits.groupWaitMs, waits.groupIntervalMs],
  )
}

/**
 * Schedules groups with held alerts: a silence was removed (`owner`: owner of the silenced rules; null: all), or a site alert ended
 * that had replaced alerts of single devices (`silentOnly`).
 */
export async function reviewHeld(
  transaction: Transaction,
  { owner, silentOnly }: { owner: number | null | 'any'; silentOnly: boolean },
  { nowMs, waits }: Due,
): Promise<void> {
  await transaction.query(
    `UPDATE alert_groups SET due_at = ${dueSql('$1', '$2', '$3')} FROM (
       SELECT held.id FROM alert_groups AS held JOIN alert_rules ON alert_rules.id = rule_id
       WHERE ($4 OR owner IS NOT DISTINCT FROM $5::integer) AND (NOT $6 OR condition->>'kind' = 'silent')
         AND EXISTS (SELECT FROM alert_group_alerts WHERE group_id = held.id AND owes IS NOT NULL)
       ORDER BY held.id FOR UPDATE OF held
     ) AS held WHERE alert_groups.id = held.id`,
    [nowMs, waits.groupWaitMs, waits.groupIntervalMs, owner === 'any', owner === 'any' ? null : owner, silentOnly],
  )
}

/** Drops pending notifications of a rule to a channel. */
export async function deleteGroups(transaction: Transaction, rule: number, channels: readonly number[]): Promise<void> {
  if (channels.length === 0) return
  const text = 'DELETE FROM alert_groups WHERE rule_id = $1 AND channel_id = ANY($2::int[])'
  await transaction.query(text, [rule, channels])
}

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
