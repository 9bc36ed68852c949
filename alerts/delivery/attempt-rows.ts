/** Deliveries as their owners see them: lists, one with its attempts, and sending one again. */

import type pg from 'pg'
import { writeAudit } from '../../auth/audit.ts'
import { inTransaction } from '../../store/postgres/transaction.ts'
import type { Attempt, Delivery, DeliveryDetails } from '../core/delivery.ts'
import type { Message } from '../core/message.ts'
import type { ChannelOutcome, Owner } from '../core/outcome.ts'
import type { AttemptResult } from './attempt.ts'
import type { ByHand } from './by-hand.ts'
import { writtenText } from './kinds/email.ts'

interface DeliveryFilter {
  channel?: number | undefined
  state?: Delivery['state'] | undefined
  limit: number
  /** The id of the last one of the page before. */
  after?: string | undefined
}

export interface AlertDeliveries {
  /** Newest first. */
  page(who: Owner, asked: DeliveryFilter): Promise<Delivery[]>
  get(who: Owner, id: string): Promise<DeliveryDetails | undefined>
  /** Sends it now, once, with the same id, whatever came of it before. */
  replay(who: Owner, id: string, actor: string): Promise<ChannelOutcome<AttemptResult>>
}

export interface AlertDeliveriesOptions {
  pool: pg.Pool
  byHand: ByHand
  /** Rate limit of sends by hand: false rejects this one. */
  takeToken: (who: Owner) => boolean
}

interface DeliveryRow extends Omit<Delivery, 'created_at' | 'due_at' | 'ended_at'> {
  created_at: Date
  due_at: Date
  ended_at: Date | null
}

const attemptsMax = 100
const stepMs = 4000

/** The name of the rule is of the message: it may have another one by now, or be gone. */
const columns = `notification.id, webhook_id, channel_id, channel.name AS channel, rule_id, message #>> '{rule,name}' AS rule,
  notification.kind, severity, state, attempts, notification.created_at, due_at, ended_at,
  coalesce(state = 'delivered' AND channel.kind = 'email' AND (
    SELECT answer FROM alert_attempts WHERE notification_id = notification.id AND error IS NULL ORDER BY id DESC LIMIT 1
  ) = '${writtenText}', false) AS written`
const from = 'alert_notifications AS notification JOIN alert_channels AS channel ON channel.id = channel_id'
/** Parameter 1: whether all deliveries are visible; parameter 2: their owner otherwise. */
const seen = '($1 OR channel.owner = $2)'

export function createDeliveries({ pool, byHand, takeToken }: AlertDeliveriesOptions): AlertDeliveries {
  async function find(who: Owner, id: string): Promise<(DeliveryRow & { message: Message }) | undefined> {
    const text = `SELECT ${columns}, message FROM ${from} WHERE ${seen} AND notification.id = $3`
    return (await pool.query<DeliveryRow & { message: Message }>(text, [who.all, who.account, id])).rows[0]
  }

  return {
    async page(who, { channel, state, limit, after }) {
      const { rows } = await pool.query<DeliveryRow>(
        `SELECT ${columns} FROM ${from} WHERE ${seen} AND ($3::integer IS NULL OR channel_id = $3)
           AND ($4::text IS NULL OR state = $4) AND ($5::bigint IS NULL OR notification.id < $5)
         ORDER BY notification.id DESC LIMIT $6`,
        [who.all, who.account, channel ?? null, state ?? null, after ?? null, limit],
      )
      return rows.map(deliveryOf)
    },

    async get(who, id) {
      const row = await find(who, id)
      if (row === undefined) return undefined
      const { message, ...rest } = row
      return { ...deliveryOf(rest), attempt_list: await attemptsOf(pool, id), message: { ...message } }
    },

    async replay(who, id, actor) {
      const row = await find(who, id)
      if (row === undefined) return { ok: false, code: 'DELIVERY_UNKNOWN' }
      if (!takeToken(who)) return { ok: false, code: 'TOO_MANY_REQUESTS' }
      await inTransaction(pool, { stepMs }, async transaction => {
        await writeAudit(transaction, { actor, action: 'alert-delivery.replay', subject: `alert notification ${id}` })
      })
      return await byHand.replay({ id, webhookId: row.webhook_id, channel: row.channel_id })
    },
  }
}

function deliveryOf({ created_at, due_at, ended_at, ...row }: DeliveryRow): Delivery {
  return {
    ...row,
    created_at: created_at.toISOString(),
    due_at: due_at.toISOString(),
    ended_at: ended_at?.toISOString() ?? null,
  }
}

async function attemptsOf(pool: pg.Pool, notification: string): Promise<Attempt[]> {
  const { rows } = await pool.query<Omit<Attempt, 'at'> & { at: Date }>(
    `SELECT at, status, duration_ms, error, answer, by_hand FROM alert_attempts
     WHERE notification_id = $1 ORDER BY id DESC LIMIT ${attemptsMax}`,
    [notification],
  )
  return rows.map(({ at, ...row }) => ({ at: at.toISOString(), ...row }))
}
