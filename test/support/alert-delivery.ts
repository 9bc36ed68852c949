/** Delivery against a real PostgreSQL, with the test's clock and without other deliverers. */

import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { NewChannel } from '../../alerts/core/channel.ts'
import type { Message } from '../../alerts/core/message.ts'
import { createDelivery, type Delivery, type DeliveryOptions } from '../../alerts/delivery/delivery.ts'
import { createSecretBox } from '../../auth/secret-box.ts'
import { alertMessage } from './alert-message.ts'
import { closing, silentLog, type TestHooks } from './databases.ts'

export const service = { all: true, account: null } as const

export interface DeliveryParts {
  clock: { nowMs: number }
  /** Names of the channels whose owners are mailed. */
  mailed: string[]
  options: DeliveryOptions
}

export function deliveryParts(pool: pg.Pool, more: Partial<DeliveryOptions> = {}): DeliveryParts {
  const clock = { nowMs: Date.parse('2026-05-01T10:00:30Z') }
  const mailed: string[] = []
  const options: DeliveryOptions = {
    pool,
    log: silentLog,
    nowMs: () => clock.nowMs,
    timeZone: 'UTC',
    leads: () => true,
    requireLead: async () => undefined,
    box: createSecretBox('a secret', 'alert channels'),
    publicUrl: () => 'https://barograph.example',
    send: async () => undefined,
    hasMailServer: true,
    recipientOf: async () => undefined,
    queueOwnerMail: async (_transaction, _owner, name) => void mailed.push(name),
    targetsAllowed: ['127.0.0.0/8'],
    ownAddresses: () => [],
    random: () => 0.5,
    ...more,
  }
  return { clock, mailed, options }
}

export function openDelivery(t: TestHooks, { options }: DeliveryParts, more: Partial<DeliveryOptions> = {}): Delivery {
  return closing(t, createDelivery({ ...options, ...more }))
}

export async function addChannel(delivery: Delivery, channel: NewChannel): Promise<{ id: number; secret: string }> {
  const added = await delivery.channels.add(service, channel, 'a test')
  if (!added.ok) throw new Error(`no channel was added: ${added.code} ${added.detail}`)
  return { id: added.value.id, secret: added.value.secret ?? '' }
}

export function webhookAt(url: string, name = url): NewChannel {
  return { name, kind: 'webhook', enabled: true, settings: { url } }
}

export interface QueuedNotification {
  channel: number
  nowMs: number
  dueMs?: number
  kind?: string
  message?: Message
  rule?: number | null
}

export async function queueNotification(pool: pg.Pool, queued: QueuedNotification): Promise<string> {
  const { channel, nowMs, dueMs = nowMs, kind = 'firing', message = alertMessage(), rule = null } = queued
  const webhookId = `msg_${randomBytes(12).toString('hex')}`
  await pool.query(
    `INSERT INTO alert_notifications (webhook_id, channel_id, rule_id, kind, severity, message, created_at, due_at)
     VALUES ($1, $2, $3, $4, 'critical', $5, to_timestamp($6::float8 / 1000), to_timestamp($7::float8 / 1000))`,
    [webhookId, channel, rule, kind, JSON.stringify(message), nowMs, dueMs],
  )
  return webhookId
}
