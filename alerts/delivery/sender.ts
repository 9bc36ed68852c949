/** Sends one notification to one channel, within the time of an attempt. Never rejects. */

import type { SecretBox } from '../../auth/secret-box.ts'
import type { Log } from '../../store/log.ts'
import type { ChannelKindName } from '../core/channel.ts'
import type { Message } from '../core/message.ts'
import { type ChannelRow, openSealed } from '../store/channel-rows.ts'
import type { Settings } from '../store/channel-settings.ts'
import { type AttemptResult, attemptMsMax, codeOf, failed } from './attempt.ts'
import type { ChannelKind, Tools } from './kinds/kind.ts'
import { channelKinds } from './kinds/kinds.ts'

export interface SenderOptions {
  box: SecretBox
  log: Pick<Log, 'warn'>
  tools: Tools
  /** The owner's address and role, which may have changed since the channel was set. */
  faultOf: (channel: Pick<ChannelRow, 'kind' | 'owner'>, settings: Settings) => Promise<string | undefined>
}

export type Send = (
  sending: { channel: ChannelRow; message: Message; webhookId: string },
  signal: AbortSignal,
) => Promise<AttemptResult>

export function createSender({ box, log, tools, faultOf }: SenderOptions): Send {
  return async ({ channel, message, webhookId }, signal) => {
    const startedMs = performance.now()
    try {
      const { settings, own } = openSealed(box, channel)
      const all = { ...channel.settings, ...settings }
      const fault = await faultOf(channel, all)
      if (fault !== undefined) return failed(fault, 0)
      // Settings were checked when they were set, by the schema of their kind.
      const kind = channelKinds[channel.kind] as ChannelKind<ChannelKindName>
      const sending = {
        message,
        webhookId,
        settings: all as Parameters<typeof kind.deliver>[0]['settings'],
        own,
        tools,
      }
      return await kind.deliver(sending, AbortSignal.any([signal, AbortSignal.timeout(attemptMsMax)]))
    } catch (error) {
      // Without the error itself, which may hold an address.
      log.warn({ channel: channel.id, reason: codeOf(error) }, 'a notification could not be made')
      return failed(codeOf(error), Math.round(performance.now() - startedMs))
    }
  }
}
