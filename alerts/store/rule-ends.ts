/** What follows for alerts when a rule ends, or gets a channel. */

import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { EndReason } from '../core/observation.ts'
import type { Rule } from '../core/rule.ts'
import { type Due, owe, oweEnds, reviewHeld } from '../outbox/group-rows.ts'
import { cancelOfRule } from '../outbox/notification-rows.ts'
import { noteAlerts } from './alert-feed.ts'
import { deletePairsOfRule } from './pairs.ts'

/** Of the rule, which is locked, no alert is open any more; to whom their firing was told, their end is. */
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
  await oweEnds(
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
       WHERE rule_id = $1 AND state = 'firing' RETURNING id, resolved_at
     ), noted AS (
       INSERT INTO alert_events (alert_id, at, kind, details)
       SELECT id, resolved_at, 'resolved', jsonb_build_object('reason', $2::text) FROM ended
     )
     SELECT id FROM ended`,
    [rule, reason, nowMs],
  )
  return rows.map(({ id }) => Number(id))
}

export interface NewChannels {
  rule: number
  channels: readonly number[]
  /** Of the tag by which alerts are told apart. */
  groupOf: (device: number) => string
}

/** What fires of the rule is told to channels that it has got. */
export async function oweOpen(
  transaction: Transaction,
  { rule, channels, groupOf }: NewChannels,
  due: Due,
): Promise<void> {
  const { rows } = await transaction.query<{ id: string; device: number; flapping: boolean }>(
    "SELECT id, device, flapping FROM alerts WHERE rule_id = $1 AND state = 'firing' ORDER BY id FOR NO KEY UPDATE",
    [rule],
  )
  const debts = rows.map(({ id, device, flapping }) => {
    return {
      alert: Number(id),
      rule,
      value: groupOf(device),
      owes: flapping ? ('flapping' as const) : ('firing' as const),
    }
  })
  await owe(transaction, debts, due, channels)
}
