/** Notifications that are to be delivered: made with what they tell, under an id that stays the same however often it is sent. */

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

/** What fired is not told any more, but where it is being sent; ends are. */
export async function cancelOfRule(transaction: Transaction, rule: number, nowMs: number): Promise<void> {
  await transaction.query(
    `UPDATE alert_notifications SET state = 'cancelled', ended_at = to_timestamp($2::float8 / 1000)
     WHERE rule_id = $1 AND state = 'waiting' AND kind NOT IN ('resolved', 'test')
       AND (claimed_until IS NULL OR claimed_until <= to_timestamp($2::float8 / 1000))`,
    [rule, nowMs],
  )
}
