/** Sends notifications by hand, once each: a test of a channel, and one that was made before, with the same id and under its claim. */

import type pg from 'pg'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import type { Message } from '../core/message.ts'
import type { ChannelOutcome } from '../core/outcome.ts'
import { createWebhookId } from '../outbox/notification-rows.ts'
import { type ChannelRow, readChannel } from '../store/channel-rows.ts'
import { type AttemptResult, isDone } from './attempt.ts'
import { claimByHand } from './claim-rows.ts'
import type { DeliveryMeter } from './dispatch.ts'
import { insertAttempt, noteWorking } from './outcome-rows.ts'
import type { Send } from './sender.ts'

export interface ByHandOptions {
  pool: pg.Pool
  nowMs: () => number
  publicUrl: () => string
  send: Send
  meter: DeliveryMeter
}

export interface ByHand {
  test(channel: ChannelRow): Promise<AttemptResult>
  /** Refused where the channel is disabled or removed, and while the notification is being sent. */
  replay(notification: { id: string; webhookId: string; channel: number }): Promise<ChannelOutcome<AttemptResult>>
}

const stepMs = 4000
/** Ends with the attempt itself. */
const never = new AbortController().signal

export function createByHand({ pool, nowMs, publicUrl, send, meter }: ByHandOptions): ByHand {
  async function tried(channel: ChannelRow, sending: { message: Message; webhookId: string }): Promise<AttemptResult> {
    const result = await send({ channel, ...sending }, never)
    meter.count(channel.kind, result.outcome)
    return result
  }

  return {
    async test(channel) {
      const message = testMessage(publicUrl(), nowMs())
      const webhookId = createWebhookId()
      const result = await tried(channel, { message, webhookId })
      await inTransaction(pool, { stepMs }, async transaction => {
        const notification = await insertTest(transaction, { channel, message, webhookId, result, nowMs: nowMs() })
        await insertAttempt(transaction, { notification, result, byHand: true, nowMs: nowMs() })
        if (isDone(result)) await noteWorking(transaction, channel.id)
      })
      return result
    },
    async replay({ id, webhookId, channel: channelId }) {
      const channel = await readChannel(pool, channelId)
      if (channel === undefined || !channel.enabled) return { ok: false, code: 'CHANNEL_DISABLED' }
      const claim = await claimByHand(pool, id, nowMs())
      if (claim === undefined) return { ok: false, code: 'TOO_MANY_REQUESTS' }
      const result = await tried(channel, { message: claim.message, webhookId })
      await inTransaction(pool, { stepMs }, async transaction => {
        await insertAttempt(transaction, { notification: id, result, byHand: true, nowMs: nowMs() })
        await endClaim(transaction, { id, untilMs: claim.untilMs, isDelivered: isDone(result), nowMs: nowMs() })
        if (isDone(result)) await noteWorking(transaction, channel.id)
      })
      return { ok: true, value: result }
    },
  }
}

function testMessage(publicUrl: string, nowMs: number): Message {
  return {
    type: 'alert.test',
    timestamp: new Date(nowMs).toISOString(),
    rule: { id: 0, name: 'this channel works', severity: 'info', note: '', condition: { kind: 'silent' } },
    group: null,
    counts: { firing: 0, resolved: 0, flapping: 0, silenced: 0 },
    devices_left_out: 0,
    alerts: [],
    url: `${publicUrl}/alerts`,
  }
}

interface InsertedTest {
  channel: ChannelRow
  message: Message
  webhookId: string
  result: AttemptResult
  nowMs: number
}

async function insertTest(transaction: Transaction, test: InsertedTest): Promise<string> {
  const state = isDone(test.result) ? 'delivered' : 'given_up'
  const { rows } = await transaction.query<{ id: string }>(
    `INSERT INTO alert_notifications
       (webhook_id, channel_id, kind, severity, message, state, attempts, created_at, due_at, ended_at)
     SELECT $1, $2, 'test', 'info', $3, $4, 1, at, at, at FROM (SELECT to_timestamp($5::float8 / 1000) AS at) AS clock
     RETURNING id`,
    [test.webhookId, test.channel.id, JSON.stringify(test.message), state, test.nowMs],
  )
  return rows[0]?.id ?? ''
}

async function endClaim(
  transaction: Transaction,
  { id, untilMs, isDelivered, nowMs }: { id: string; untilMs: number; isDelivered: boolean; nowMs: number },
): Promise<void> {
  await transaction.query(
    `UPDATE alert_notifications SET claimed_until = NULL, state = CASE WHEN $3 THEN 'delivered' ELSE state END,
       ended_at = CASE WHEN $3 AND state <> 'delivered' THEN to_timestamp($4::float8 / 1000) ELSE ended_at END
     WHERE id = $1 AND claimed_until = to_timestamp($2::float8 / 1000)`,
    [id, untilMs, isDelivered, nowMs],
  )
}
