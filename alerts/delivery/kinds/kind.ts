/** Interface of a kind of channel. */

import type { ChannelKindName, ChannelSettings } from '../../core/channel.ts'
import type { Message } from '../../core/message.ts'
import type { Severity } from '../../core/rule.ts'
import type { AttemptResult } from '../attempt.ts'
import type { SigningSecrets } from '../signing.ts'

export interface AlertMail {
  to: string
  subject: string
  text: string
  html: string
  headers: Readonly<Record<string, string>>
}

export interface Published {
  topic: string
  payload: string
  retain: boolean
}

export interface Posted {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
  /** Secrets that are removed from the recorded answer. */
  secrets: readonly string[]
}

export type Post = (posted: Posted, signal: AbortSignal) => Promise<AttemptResult>

export interface Tools {
  post: Post
  sendMail: (mail: AlertMail) => Promise<void>
  /** Without a mail server, mails become files. */
  hasMailServer: boolean
  /** Resolves when the broker has acknowledged all of them (QoS 1); without a broker, undefined. */
  publish: ((messages: readonly Published[], signal: AbortSignal) => Promise<void>) | undefined
  nowMs: () => number
  timeZone: string
  publicUrl: () => string
}

/** Made by the service, and encrypted as the address is. */
export interface OwnSecrets {
  signing?: SigningSecrets | undefined
  /** A recipient of mails leaves by this secret. */
  unsubscribe?: string | undefined
}

export interface Sending<Settings> {
  message: Message
  webhookId: string
  settings: Settings
  own: OwnSecrets
  tools: Tools
}

export interface ChannelKind<Name extends ChannelKindName> {
  /** Settings that are encrypted and never shown. */
  secrets: readonly (keyof ChannelSettings<Name>)[]
  /** URL that deliveries are posted to, which is checked. */
  hasUrl: boolean
  /** Gets all alerts, in slices, instead of the first few. */
  wantsAll?: boolean
  /** A notification is repeated at this interval while an alert fires. */
  refreshMs?: number
  /** Uses credentials of the service, so only administrators may create it. */
  isOfService?: boolean
  deliver(sending: Sending<ChannelSettings<Name>>, signal: AbortSignal): Promise<AttemptResult>
}

export const colours: Record<Severity, string> = { info: '#2f6fb5', warning: '#c77700', critical: '#c62828' }
export const resolvedColour = '#2e7d32'
