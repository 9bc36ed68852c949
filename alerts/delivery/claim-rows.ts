/** Notifications that wait: which channels have some that are due, and the next one of a channel, claimed by one sender. */

import type pg from 'pg'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import type { Message } from '../core/message.ts'
import { type ChannelRow, cancelWaiting, readChannel } from '../store/channel-rows.ts'

/** Longer than an attempt and its record. A claim of a sender that died expires after this time. */
export const claimMs = 60_000
const stepMs = 4000

/** This many attempts hold back later notifications of the same rule: two and a half hours. */
export const heldAttemptsMax = 4

/**
 * Notifications of a rule stand in a line, so that an end is not delivered before its beginning. One that has failed for long
 * leaves it: the newer ones are worth more than the order then.
 */
const line = `CASE WHEN attempts < ${heldAttemptsMax} THEN coalesce(rule_id::bigint, -id) ELSE -id END`

export interface WaitingChannel {
  channel: number
  owner: number | null
  dueMs: number
}

/**
 * Channels with waiting notifications, earliest due time first. A notification created after the present time precedes a clock
 * that was set back, and is due: otherwise it would wait for as long as the clock was set back.
 */
export async function waitingChannels(database: Transaction, nowMs: number): Promise<WaitingChannel[]> {
  const { rows } = await database.query<{ channel: number; owner: number | null; due_ms: number }>(
    `SELECT channel_id AS channel, owner, 1000 * extract(epoch FROM waiting.due_at)::float8 AS due_ms
     FROM (SELECT channel_id, min(CASE WHEN created_at > at THEN at ELSE due_at END) AS due_at
           FROM alert_notifications, (SELECT to_timestamp($1::float8 / 1000) AS at) AS clock
           WHERE state = 'waiting' GROUP BY channel_id) AS waiting
     JOIN alert_channels ON alert_channels.id = channel_id ORDER BY due_ms, channel`,
    [nowMs],
  )
  return rows.map(({ channel, owner, due_ms }) => ({ channel, owner, dueMs: due_ms }))
}

export interface Claimed {
  id: string
  webhookId: string
  kind: string
  message: Message
  /** This attempt is not included. */
  attempts: number
  /** Something behind it in its line is due, and it is tried first. */
  isEarly: boolean
  untilMs: number
  channel: ChannelRow
}

export interface ClaimOptions {
  pool: pg.Pool
  nowMs: () => number
  requireLead: (transaction: Transaction) => Promise<void>
}

/** Undefined where nothing of the channel is due. */
export async function claimNext(
  { pool, nowMs, requireLead }: ClaimOptions,
  channel: number,
): Promise<Claimed | undefined> {
  return await inTransaction(pool, { stepMs }, async transaction => {
    await requireLead(transaction)
    const atMs = nowMs()
    const row = await readChannel(transaction, channel, 'FOR SHARE')
    if (row === undefined || !row.enabled) {
      await cancelWaiting(transaction, channel, atMs)
      return undefined
    }
    return await claim(transaction, row, atMs)
  })
}

/** The oldest of a line, where something of the line is due. A claim that ends later than one of now was made before the clock was set back. */
async function claim(transaction: Transaction, channel: ChannelRow, nowMs: number): Promise<Claimed | undefined> {
  const untilMs = nowMs + claimMs
  const { rows } = await transaction.query<{
    id: string
    webhook_id: string
    kind: string
    message: Message
    attempts: number
    is_early: boolean
  }>(
    `WITH clock AS (SELECT to_timestamp($2::float8 / 1000) AS at, to_timestamp($3::float8 / 1000) AS until),
     lines AS (
       SELECT min(id) AS head, min(CASE WHEN created_at > at THEN at ELSE due_at END) AS due
       FROM alert_notifications, clock WHERE channel_id = $1 AND state = 'waiting' GROUP BY ${line}
       HAVING count(*) FILTER (WHERE claimed_until > at AND claimed_until <= until) = 0
     ), next AS (SELECT head FROM lines, clock WHERE due <= at ORDER BY due, head LIMIT 1)
     UPDATE alert_notifications SET claimed_until = until FROM next, clock WHERE id = head AND state = 'waiting'
     RETURNING id, webhook_id, kind, message, attempts, due_at > at AND created_at <= at AS is_early`,
    [channel.id, nowMs, untilMs],
  )
  const [row] = rows
  if (row === undefined) return undefined
  const { id, webhook_id: webhookId, kind, message, attempts, is_early: isEarly } = row
  return { id, webhookId, kind, message, attempts, isEarly, untilMs, channel }
}

/** Claims a notification in any state for a send by hand, with the message as an erase left it. Undefined while a sender has the claim. */
export async function claimByHand(
  pool: pg.Pool,
  id: string,
  nowMs: number,
): Promise<{ message: Message; untilMs: number } | undefined> {
  const untilMs = nowMs + claimMs
  const { rows } = await pool.query<{ message: Message }>(
    `UPDATE alert_notifications SET claimed_until = until
     FROM (SELECT to_timestamp($2::float8 / 1000) AS at, to_timestamp($3::float8 / 1000) AS until) AS clock
     WHERE id = $1 AND (claimed_until IS NULL OR claimed_until <= at OR claimed_until > until) RETURNING message`,
    [id, nowMs, untilMs],
  )
  const [row] = rows
  return row && { message: row.message, untilMs }
}

/** Nothing came of it: another sender may try at once. */
export async function giveBackClaim(database: Transaction, { id, untilMs }: Claimed): Promise<void> {
  await database.query(
    `UPDATE alert_notifications SET claimed_until = NULL
     WHERE id = $1 AND state = 'waiting' AND claimed_until = to_timestamp($2::float8 / 1000)`,
    [id, untilMs],
  )
}
