/** Records the result of an attempt, the next attempt of the notification (Standard Webhooks 1.0), and a failing channel. */

import type pg from 'pg'
import { writeAudit } from '../../auth/audit.ts'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { type ChannelRow, type DisabledReason, disableChannel } from '../store/channel-rows.ts'
import { type AttemptResult, answerLengthMax, failed, isDone } from './attempt.ts'
import { type Claimed, heldAttemptsMax } from './claim-rows.ts'

export interface OutcomeOptions {
  pool: pg.Pool
  nowMs: () => number
  random: () => number
  /** Queues a mail to the owner of a disabled channel. */
  queueOwnerMail: (transaction: Transaction, owner: number | null, channelName: string) => Promise<void>
}

export interface Noted {
  /** Time of the next attempt. */
  dueMs: number | undefined
  isGivenUp: boolean
  disabled: DisabledReason | undefined
}

const stepMs = 4000

/**
 * The holder of the claim records the result, even when its node no longer leads, since the attempt has happened. Without the
 * claim, the attempt is recorded and the notification stays unchanged.
 */
export async function noteOutcome(options: OutcomeOptions, claimed: Claimed, result: AttemptResult): Promise<Noted> {
  const { pool, nowMs, random } = options
  return await inTransaction(pool, { stepMs }, async transaction => {
    const atMs = nowMs()
    await insertAttempt(transaction, { notification: claimed.id, result, byHand: false, nowMs: atMs })
    const next = nextOf(claimed, result, atMs, random())
    const { rowCount } = await transaction.query(
      // A notification from before the clock was set back gets the present time.
      `UPDATE alert_notifications SET state = $3, attempts = $4, claimed_until = NULL,
         due_at = coalesce(to_timestamp($5::float8 / 1000), due_at), created_at = least(created_at, at),
         ended_at = CASE WHEN $3 = 'waiting' THEN NULL ELSE at END
       FROM (SELECT to_timestamp($6::float8 / 1000) AS at) AS clock
       WHERE id = $1 AND state = 'waiting' AND claimed_until = to_timestamp($2::float8 / 1000)`,
      [claimed.id, claimed.untilMs, next.state, next.attempts, next.dueMs ?? null, atMs],
    )
    if (rowCount === 0) return { dueMs: undefined, isGivenUp: false, disabled: undefined }
    await noteLine(transaction, claimed, next, atMs)
    const disabled = await noteChannel(options, transaction, claimed.channel, result)
    return { dueMs: next.dueMs, isGivenUp: next.state === 'given_up', disabled }
  })
}

interface Next {
  state: 'waiting' | 'delivered' | 'given_up'
  attempts: number
  /** Undefined where it stays as it is. */
  dueMs: number | undefined
}

/** One that was tried before its time, for another one's sake, keeps its own times. */
function nextOf({ attempts, isEarly }: Claimed, result: AttemptResult, nowMs: number, random: number): Next {
  const { outcome } = result
  if (isDone(result)) return { state: 'delivered', attempts: attempts + 1, dueMs: undefined }
  if (outcome === 'failed' && isEarly) return { state: 'waiting', attempts, dueMs: undefined }
  const delayMs = outcome === 'failed' ? retryDelayMs(attempts + 1, random) : undefined
  const state = delayMs === undefined ? 'given_up' : 'waiting'
  return { state, attempts: attempts + 1, dueMs: delayMs === undefined ? undefined : nowMs + delayMs }
}

/** Later notifications of the rule wait as long as this one, and continue once it leaves the line. */
async function noteLine(transaction: Transaction, { id }: Claimed, next: Next, nowMs: number): Promise<void> {
  const isHeld = next.state === 'waiting' && next.attempts < heldAttemptsMax
  await transaction.query(
    `UPDATE alert_notifications AS behind
     SET due_at = CASE WHEN $2 THEN greatest(behind.due_at, head.due_at) ELSE least(behind.due_at, at) END
     FROM alert_notifications AS head, (SELECT to_timestamp($3::float8 / 1000) AS at) AS clock
     WHERE head.id = $1 AND behind.channel_id = head.channel_id AND behind.rule_id = head.rule_id
       AND behind.state = 'waiting' AND behind.id > head.id AND behind.attempts < ${heldAttemptsMax}`,
    [id, isHeld, nowMs],
  )
}

/** Records whether the channel works, and disables a channel that has failed for days. */
async function noteChannel(
  { nowMs, queueOwnerMail }: OutcomeOptions,
  transaction: Transaction,
  { id, owner, name }: ChannelRow,
  result: AttemptResult,
): Promise<DisabledReason | undefined> {
  if (isDone(result)) {
    await noteWorking(transaction, id)
    return undefined
  }
  const reason =
    result.outcome === 'gone' ? 'gone' : (await hasFailedForLong(transaction, id, nowMs())) ? 'failing' : undefined
  if (reason === undefined || !(await disableChannel(transaction, { channel: id, reason, nowMs: nowMs() }))) {
    return undefined
  }
  await writeAudit(transaction, {
    actor: 'alerts',
    action: 'alert-channel.disable',
    subject: `alert channel ${id}`,
    details: { reason },
  })
  await queueOwnerMail(transaction, owner, name)
  return reason
}

export async function noteWorking(transaction: Transaction, channel: number): Promise<void> {
  const text = 'UPDATE alert_channels SET failing_since = NULL WHERE id = $1 AND failing_since IS NOT NULL'
  await transaction.query(text, [channel])
}

async function hasFailedForLong(transaction: Transaction, channel: number, nowMs: number): Promise<boolean> {
  const { rows } = await transaction.query<{ is_long: boolean }>(
    `UPDATE alert_channels SET failing_since = least(failing_since, at)
     FROM (SELECT to_timestamp($2::float8 / 1000) AS at) AS clock
     WHERE id = $1 RETURNING failing_since <= at - $3::float8 * interval '1 ms' AS is_long`,
    [channel, nowMs, failingMsMax],
  )
  return rows[0]?.is_long === true
}

export async function insertAttempt(
  transaction: Transaction,
  attempt: { notification: string; result: AttemptResult; byHand: boolean; nowMs: number },
): Promise<void> {
  const { notification, result, byHand, nowMs } = attempt
  const { status, durationMs, error, answer } = result
  await transaction.query(
    `INSERT INTO alert_attempts (notification_id, at, status, duration_ms, error, answer, by_hand)
     SELECT id, to_timestamp($2::float8 / 1000), $3, $4, $5, $6, $7 FROM alert_notifications WHERE id = $1`,
    [notification, nowMs, status, durationMs, error, answer.slice(0, answerLengthMax), byHand],
  )
}

const endedService = 'it ended the service'

/**
 * An attempt ended the process: the notification is given up, so that only a person sends it again. A second such notification
 * disables the channel.
 */
export async function setNotificationAside(transaction: Transaction, id: string, atMs: number): Promise<void> {
  const { rows } = await transaction.query<{ channel: number }>(
    `UPDATE alert_notifications SET state = 'given_up', attempts = attempts + 1, claimed_until = NULL,
       ended_at = to_timestamp($2::float8 / 1000)
     WHERE id = $1 AND state = 'waiting' RETURNING channel_id AS channel`,
    [id, atMs],
  )
  const [row] = rows
  if (row === undefined) return
  await insertAttempt(transaction, { notification: id, result: failed(endedService, 0), byHand: false, nowMs: atMs })
  const { rows: counted } = await transaction.query<{ count: number }>(
    `SELECT count(DISTINCT notification_id)::int AS count FROM alert_attempts
     WHERE error = $2 AND notification_id IN (SELECT id FROM alert_notifications WHERE channel_id = $1)`,
    [row.channel, endedService],
  )
  if ((counted[0]?.count ?? 0) < 2) return
  await disableChannel(transaction, { channel: row.channel, reason: 'crashed', nowMs: atMs })
}

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

const waitsMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
]
/** The delay is random, so that simultaneous failures are not retried together. */
const spread = 0.1

/** Delay from a failed attempt, counted from 1, to the next one. Undefined after the last attempt. `random` is from 0 to 1. */
export function retryDelayMs(attempts: number, random: number): number | undefined {
  const waitMs = waitsMs[attempts - 1]
  return waitMs === undefined ? undefined : waitMs * (1 + spread * (2 * random - 1))
}

/** A channel that has failed for so long is disabled. */
const failingMsMax = 5 * 24 * hourMs
