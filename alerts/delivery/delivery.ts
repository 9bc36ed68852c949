/** Entry point of this folder: channels, and the delivery of notifications to them. */

import type pg from 'pg'
import type { MailTransport } from '../../auth/mail/mail-transport.ts'
import type { SecretBox } from '../../auth/secret-box.ts'
import { TokenBuckets } from '../../store/limits/token-buckets.ts'
import type { Log } from '../../store/log.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { Owner } from '../core/outcome.ts'
import { type FindRecipient, type TargetRules, targetFault } from '../store/channel-settings.ts'
import { type AlertChannels, createChannels } from '../store/channels.ts'
import { type AlertDeliveries, createDeliveries } from './attempt-rows.ts'
import { createByHand } from './by-hand.ts'
import { createDeliveryMeter, createDispatch, type DeliveryMeter } from './dispatch.ts'
import type { Published } from './kinds/kind.ts'
import { createPost, createSender, type SenderOptions } from './sender.ts'
import { createTargetCheck, type Resolve } from './targets.ts'
import { createUnsubscribing, type Unsubscribing } from './unsubscribe.ts'

export interface DeliveryOptions {
  pool: pg.Pool
  log: Log
  nowMs: () => number
  timeZone: string
  leads: () => boolean
  /** Rejects unless this process leads at the time of the transaction. */
  requireLead: (transaction: Transaction) => Promise<void>
  /** Encrypts addresses and other secrets of channels. */
  box: SecretBox
  publicUrl: () => string
  send: MailTransport['send']
  /** Without a mail server (SMTP_URL), mails become files. */
  hasMailServer: boolean
  recipientOf: FindRecipient
  /** Queues a mail to the owner of a disabled channel. A channel of the service (null) gets a log line. */
  queueOwnerMail: (transaction: Transaction, owner: number | null, channelName: string) => Promise<void>
  /** ALERT_TARGETS_ALLOWED */
  targetsAllowed: readonly string[]
  /** The addresses of this machine. */
  ownAddresses: () => readonly string[]
  /** Publishes to the broker of MQTT_BROKER_URL. */
  publish?: ((messages: readonly Published[], signal: AbortSignal) => Promise<void>) | undefined
  /** Resolves host names of targets. */
  resolve?: Resolve
  /** The numbers are between 0 and 1. */
  random?: () => number
}

export interface Delivery {
  channels: AlertChannels
  deliveries: AlertDeliveries
  unsubscribing: Unsubscribing
  meter: DeliveryMeter
  /** Something may be due. */
  wake(): void
  close(): Promise<void>
}

/** Tests and replays of an owner: enough to try a channel, too few to flood a receiver. */
const byHandRate = { perSecond: 1 / 10, burst: 10 }

export function createDelivery(options: DeliveryOptions): Delivery {
  const { pool, log, nowMs, timeZone, box, publicUrl, recipientOf, publish, random = Math.random } = options
  const { targetsAllowed: allowed, ownAddresses, resolve } = options
  const targets = createTargetCheck({ allowed, ownAddresses, ...(resolve === undefined ? {} : { resolve }) })
  const post = createPost(targets)
  const { hasMailServer } = options
  const tools = { post, sendMail: options.send, hasMailServer, publish, nowMs, timeZone, publicUrl }
  const rules: TargetRules = { targets, recipientOf, hasBroker: publish !== undefined }
  const faultOf: SenderOptions['faultOf'] = ({ kind, owner }, settings) => targetFault(rules, { kind, settings, owner })
  const send = createSender({ box, log, tools, faultOf })
  const meter = createDeliveryMeter(pool, nowMs)
  const byHand = createByHand({ pool, nowMs, publicUrl, send, meter })
  const buckets = new TokenBuckets<number | null>(byHandRate, nowMs)
  const takeToken = ({ account }: Owner) => buckets.take(account)
  const dispatch = createDispatch({ ...options, random, send, meter })

  return {
    channels: createChannels({ ...rules, pool, nowMs, box, byHand, takeToken, hasMailServer }),
    deliveries: createDeliveries({ pool, byHand, takeToken }),
    unsubscribing: createUnsubscribing({ pool, nowMs }),
    meter,
    wake: dispatch.wake,
    close: dispatch.close,
  }
}
