/** Notifications to deliver: stored with their content, under an id that all attempts share. */

import { randomInt } from 'node:crypto'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { Message } from '../core/message.ts'
import type { Severity } from '../core/rule.ts'

export type NotificationKind = 'firing' | 'resolved' | 'repeat' | 'flapping' | 'refresh' | 'test'

export interface NewNotification {
  channel: number
  rule: number
  kind: NotificationKind
  severity: Severity
  message: Message
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const idLength = 24

/** The `webhook-id` of Standard Webhooks. */
export function createWebhookId(): string {
  return `msg_${Array.from({ length: idLength }, () => digits[randomInt(digits.length)]).join('')}`
}

export async function insertNotification(
  transaction: Transaction,
  { channel, rule, kind, severity, message }: NewNotification,
  nowMs: number,
): Promise<void> {
  await transaction.query(
    `INSERT INTO alert_notifications (webhook_id, channel_id, rule_id, kind, severity, message, created_at, due_at)
     SELECT $1, $2, $3, $4, $5, $6, at, at FROM (SELECT to_timestamp($7::float8 / 1000) AS at) AS clock`,
    [createWebhookId(), channel, rule, kind, severity, JSON.stringify(message), nowMs],
  )
}

/** The latest notifications of a channel that are read, over all its groups. Older ones are ignored. */
const latestMax = 500

/** Times of a group's notifications with news before now, oldest first. */
export async function readNewsMs(
  transaction: Transaction,
  { channel, rule, value }: { channel: number; rule: number; value: string },
  nowMs: number,
): Promise<number[]> {
  const { rows } = await transaction.query<{ at: number }>(
    `SELECT extract(epoch FROM created_at)::float8 * 1000 AS at FROM (
       SELECT rule_id, kind, message, created_at FROM alert_notifications WHERE channel_id = $1 ORDER BY id DESC LIMIT ${latestMax}
     ) AS latest
     WHERE rule_id = $2 AND kind IN ('firing', 'flapping', 'resolved') AND created_at <= to_timestamp($4::float8 / 1000)
       AND coalesce(message->'group'->>'value', '') = $3
     ORDER BY created_at`,
    [channel, rule, value, nowMs],
  )
  return rows.map(({ at }) => at)
}

/**
 * Cancels waiting repeats of a group, which the new notification replaces. Notifications of the same time stay. Messages with all
 * alerts are large, so only waiting ones are read, once.
 */
export async function cancelRepeats(
  transaction: Transaction,
  { channel, rule, group }: { channel: number; rule: number; group: Message['group'] },
  nowMs: number,
): Promise<void> {
  await transaction.query(
    `UPDATE alert_notifications SET state = 'cancelled', ended_at = at
     FROM (SELECT to_timestamp($4::float8 / 1000) AS at) AS clock
     WHERE channel_id = $1 AND rule_id = $2 AND state = 'waiting' AND kind IN ('repeat', 'refresh') AND created_at < at
       AND message -> 'group' = $3::jsonb`,
    [channel, rule, JSON.stringify(group), nowMs],
  )
}

/** Drops waiting firing notifications, except those being sent. Ends are still delivered. */
export async function cancelOfRule(transaction: Transaction, rule: number, nowMs: number): Promise<void> {
  await transaction.query(
    `UPDATE alert_notifications SET state = 'cancelled', ended_at = to_timestamp($2::float8 / 1000)
     WHERE rule_id = $1 AND state = 'waiting' AND kind NOT IN ('resolved', 'test')
       AND (claimed_until IS NULL OR claimed_until <= to_timestamp($2::float8 / 1000))`,
    [rule, nowMs],
  )
}
