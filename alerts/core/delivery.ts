/** Notifications as they are shown: to which channel, how it stands, and each attempt. */

import { z } from 'zod'
import { severities } from './rule.ts'

export const deliveryStates = ['waiting', 'delivered', 'given_up', 'cancelled'] as const

const time = z.iso.datetime()

export const Delivery = z.object({
  id: z.string(),
  webhook_id: z.string().meta({ description: 'The same however often it is sent.' }),
  channel_id: z.int(),
  channel: z.string().meta({ description: 'The name of the channel' }),
  rule_id: z.int().nullable(),
  rule: z.string().nullable().meta({ description: 'The name of the rule when it was made' }),
  kind: z.enum(['firing', 'resolved', 'repeat', 'flapping', 'refresh', 'test']),
  severity: z.enum(severities),
  state: z.enum(deliveryStates),
  written: z.boolean().meta({ description: 'Whether the mail was written to a file because no mail server is set.' }),
  attempts: z.int(),
  created_at: time,
  due_at: time.meta({ description: 'When it is tried next' }),
  ended_at: time.nullable(),
})
export type Delivery = z.infer<typeof Delivery>

export const Attempt = z.object({
  at: time,
  status: z.int().nullable().meta({ description: 'Of an HTTP answer' }),
  duration_ms: z.int(),
  error: z.string().nullable(),
  answer: z.string().meta({ description: 'Its first 1,000 characters' }),
  by_hand: z.boolean(),
})
export type Attempt = z.infer<typeof Attempt>

export const DeliveryDetails = Delivery.extend({
  attempt_list: z.array(Attempt).meta({ description: 'Of 30 days, the newest 100.' }),
  message: z.record(z.string(), z.unknown()),
})
export type DeliveryDetails = z.infer<typeof DeliveryDetails>

/** The answer to the request's attempt. */
export const AttemptAnswer = z.object({
  outcome: z
    .enum(['delivered', 'written', 'failed', 'gone'])
    .meta({ description: '`written`: the mail was written to a file, because no mail server is set.' }),
  status: z.int().nullable(),
  error: z.string().nullable(),
  answer: z.string(),
  duration_ms: z.int(),
})
export type AttemptAnswer = z.infer<typeof AttemptAnswer>
