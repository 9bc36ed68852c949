/** Rows of rules, and the effects of a changed or removed rule on its alerts. */

import type pg from 'pg'
import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { accountOf, type Owner } from '../core/outcome.ts'
import type { EndReason } from '../core/pair.ts'
import type { NewRule, Rule } from '../core/rule.ts'
import { type Due, deleteGroups, type NewPending, queueEnds, queuePending, reviewHeld } from '../outbox/group-rows.ts'
import { cancelOfRule } from '../outbox/notification-rows.ts'
import { noteAlerts } from './alert-rows.ts'
import { deletePairsOfRule } from './pairs.ts'

type Database = Pick<pg.Pool, 'query'>
type RuleRecord = Omit<Rule, 'created_at'> & { created_at: Date }

const columns = `id, owner, name, selector, condition, for_seconds, keep_firing_seconds, severity,
  ARRAY(SELECT channel_id FROM alert_rule_channels WHERE rule_id = id ORDER BY channel_id) AS channels,
  group_by, enabled, note, version, created_at`

/** An owner's, or all. */
const isOf = (parameter: string) => `(${parameter}::integer IS NULL OR owner = ${parameter})`

/** A rule of another owner counts as unknown. */
interface WhichRule {
  who: Owner
  id: number
}

export async function readRule(database: Database, { who, id }: WhichRule): Promise<Rule | undefined> {
  const text = `SELECT ${columns} FROM alert_rules WHERE id = $1 AND removed_at IS NULL AND ${isOf('$2')}`
  return (await rulesFrom(database, text, [id, accountOf(who)]))[0]
}

/** It does not change until the end of the transaction. */
export async function lockRule(transaction: Transaction, { who, id }: WhichRule): Promise<Rule | undefined> {
  const text = `SELECT ${columns} FROM alert_rules WHERE id = $1 AND removed_at IS NULL AND ${isOf('$2')} FOR NO KEY UPDATE`
  return (await rulesFrom(transaction, text, [id, accountOf(who)]))[0]
}

/** Ids ascend. */
export async function readRules(database: Database, who: Owner, after: number, limit: number): Promise<Rule[]> {
  const text = `SELECT ${columns} FROM alert_rules WHERE removed_at IS NULL AND ${isOf('$1')} AND id > $2 ORDER BY id LIMIT $3`
  return await rulesFrom(database, text, [accountOf(who), after, limit])
}

/** All rules of an owner, who may have a limited number. */
export async function readOwned(database: Database, owner: number | null): Promise<Rule[]> {
  const text = `SELECT ${columns} FROM alert_rules WHERE removed_at IS NULL AND owner IS NOT DISTINCT FROM $1::integer ORDER BY id`
  return await rulesFrom(database, text, [owner])
}

async function rulesFrom(database: Database, text: string, values: unknown[]): Promise<Rule[]> {
  const { rows } = await database.query<RuleRecord>(text, values)
  return rows.map(row => ({ ...row, created_at: row.created_at.toISOString() }))
}

export interface RuleVersion {
  id: number
  version: number
  enabled: boolean
}

export async function readVersions(database: Database): Promise<RuleVersion[]> {
  const text = 'SELECT id, version, enabled FROM alert_rules WHERE removed_at IS NULL ORDER BY id'
  return (await database.query<RuleVersion>(text)).rows
}

export async function countRules(transaction: Transaction, owner: number | null): Promise<number> {
  const { rows } = await transaction.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM alert_rules
     WHERE owner IS NOT DISTINCT FROM $1::integer AND removed_at IS NULL`,
    [owner],
  )
  return rows[0]?.count ?? 0
}

const values = (rule: NewRule) => [
  rule.name,
  rule.selector === null ? null : JSON.stringify(rule.selector),
  JSON.stringify(rule.condition),
  rule.for_seconds,
  rule.keep_firing_seconds,
  rule.severity,
  rule.group_by,
  rule.enabled,
  rule.note,
]
const valueColumns = 'name, selector, condition, for_seconds, keep_firing_seconds, severity, group_by, enabled, note'

/** Its id. */
export async function insertRule(
  transaction: Transaction,
  rule: NewRule,
  owner: number | null,
  nowMs: number,
): Promise<number> {
  const { rows } = await transaction.query<{ id: number }>(
    `INSERT INTO alert_rules (${valueColumns}, owner, created_at, updated_at)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::integer, at, at
     FROM (SELECT to_timestamp($11::float8 / 1000) AS at) AS clock RETURNING id`,
    [...values(rule), owner, nowMs],
  )
  return rows[0]?.id ?? 0
}

/** `isNew`: evaluation of the rule starts again. */
export async function updateRule(
  transaction: Transaction,
  id: number,
  rule: NewRule,
  { isNew, nowMs }: { isNew: boolean; nowMs: number },
): Promise<void> {
  await transaction.query(
    `UPDATE alert_rules SET (${valueColumns}) = ROW ($1, $2::jsonb, $3::jsonb, $4::integer, $5::integer, $6, $7, $8::boolean, $9),
       version = version + $10::integer, updated_at = to_timestamp($11::float8 / 1000)
     WHERE id = $12`,
    [...values(rule), isNew ? 1 : 0, nowMs, id],
  )
}

export async function markRemoved(transaction: Transaction, id: number, nowMs: number): Promise<void> {
  const text = 'UPDATE alert_rules SET removed_at = to_timestamp($2::float8 / 1000) WHERE id = $1'
  await transaction.query(text, [id, nowMs])
  await transaction.query('DELETE FROM alert_rule_channels WHERE rule_id = $1', [id])
}

/** Counts the channels among these that `who` may use. The transaction keeps them from removal. */
export async function lockUsableChannels(
  transaction: Transaction,
  who: Owner,
  channels: readonly number[],
): Promise<number> {
  if (channels.length === 0) return 0
  const { rowCount } = await transaction.query(
    `SELECT FROM alert_channels WHERE id = ANY($1::int[]) AND removed_at IS NULL AND ${isOf('$2')}
     ORDER BY id FOR SHARE`,
    [channels, accountOf(who)],
  )
  return rowCount ?? 0
}

export async function addChannels(transaction: Transaction, rule: number, channels: readonly number[]): Promise<void> {
  if (channels.length === 0) return
  const text = 'INSERT INTO alert_rule_channels (rule_id, channel_id) SELECT $1, unnest($2::int[])'
  await transaction.query(text, [rule, channels])
}

async function takeOffChannels(transaction: Transaction, rule: number, channels: readonly number[]): Promise<void> {
  if (channels.length === 0) return
  const text = 'DELETE FROM alert_rule_channels WHERE rule_id = $1 AND channel_id = ANY($2::int[])'
  await transaction.query(text, [rule, channels])
}

/** Resolves all open alerts of the locked rule. Receivers of their firing are notified of the end. */
export async function endRule(
  transaction: Transaction,
  feed: ChangeFeed,
  { id, owner, condition }: Rule,
  reason: Extract<EndReason, 'rule_removed' | 'rule_disabled'>,
  due: Due,
): Promise<void> {
  await transaction.query("DELETE FROM alerts WHERE rule_id = $1 AND state = 'pending'", [id])
  const ended = await resolveAll(transaction, id, reason, due.nowMs)
  await deletePairsOfRule(transaction, id)
  await queueEnds(
    transaction,
    ended.map(alert => ({ alert, isTellable: false })),
    due,
  )
  await cancelOfRule(transaction, id, due.nowMs)
  if (condition.kind === 'site_silent') await reviewHeld(transaction, { owner, silentOnly: true }, due)
  noteAlerts(feed, transaction, ended)
}

async function resolveAll(transaction: Transaction, rule: number, reason: string, nowMs: number): Promise<number[]> {
  const { rows } = await transaction.query<{ id: string }>(
    `WITH ended AS (
       UPDATE alerts SET state = 'resolved', flapping = false, resolved_at = to_timestamp($3::float8 / 1000), resolved_reason = $2
       WHERE rule_id = $1 AND state = 'firing' RETURNING id, fired_at, resolved_at, value
     ), noted AS (
       INSERT INTO alert_events (alert_id, at, kind, details)
       SELECT id, fired_at, 'firing', jsonb_strip_nulls(jsonb_build_object('value', value)) FROM ended
       UNION ALL SELECT id, resolved_at, 'resolved', jsonb_build_object('reason', $2::text) FROM ended
     )
     SELECT id FROM ended`,
    [rule, reason, nowMs],
  )
  return rows.map(({ id }) => Number(id))
}

interface RuleFollowed {
  before: Rule
  /** The present rule. */
  rule: NewRule
  /** Value of the tag that separates groups of the rule. */
  groupOf: (device: number) => string
}

/** New channels are notified of firing alerts. Pending notifications of removed channels are dropped. */
export async function followChange(
  transaction: Transaction,
  feed: ChangeFeed,
  { before, rule, groupOf }: RuleFollowed,
  due: Due,
): Promise<void> {
  const added = rule.channels.filter(channel => !before.channels.includes(channel))
  const gone = before.channels.filter(channel => !rule.channels.includes(channel))
  await takeOffChannels(transaction, before.id, gone)
  await addChannels(transaction, before.id, added)
  if (before.enabled && !rule.enabled) await endRule(transaction, feed, before, 'rule_disabled', due)
  await deleteGroups(transaction, before.id, gone)
  if (rule.enabled && added.length > 0) {
    await queuePending(transaction, await pendingOf(transaction, before.id, groupOf), due, added)
  }
}

async function pendingOf(
  transaction: Transaction,
  rule: number,
  groupOf: RuleFollowed['groupOf'],
): Promise<NewPending[]> {
  const { rows } = await transaction.query<{ id: string; device: number; flapping: boolean }>(
    "SELECT id, device, flapping FROM alerts WHERE rule_id = $1 AND state = 'firing' ORDER BY id FOR NO KEY UPDATE",
    [rule],
  )
  return rows.map(({ id, device, flapping }) => {
    return { alert: Number(id), rule, value: groupOf(device), owes: flapping ? 'flapping' : 'firing' }
  })
}
