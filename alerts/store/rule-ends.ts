/** Consequences for alerts when a rule is changed or removed. */

import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { EndReason } from '../core/observation.ts'
import type { NewRule, Rule } from '../core/rule.ts'
import { type Due, deleteGroups, type NewPending, queueEnds, queuePending, reviewHeld } from '../outbox/group-rows.ts'
import { cancelOfRule } from '../outbox/notification-rows.ts'
import { noteAlerts } from './alert-feed.ts'
import { deletePairsOfRule } from './pairs.ts'
import { addChannels, takeOffChannels } from './rule-rows.ts'

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

export interface RuleFollowed {
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
