/** Sends one notification to one channel within the time of an attempt, for most kinds by a POST to a checked address. */

import { Client } from 'undici'
import type { SecretBox } from '../../auth/secret-box.ts'
import type { Log } from '../../store/log.ts'
import type { ChannelKindName } from '../core/channel.ts'
import type { Message } from '../core/message.ts'
import { type ChannelRow, openSealed } from '../store/channel-rows.ts'
import type { Settings } from '../store/channel-settings.ts'
import { type AttemptResult, answerLengthRead, attemptMsMax, codeOf, failed, shownAnswer } from './attempt.ts'
import type { ChannelKind, Post, Tools } from './kinds/kind.ts'
import { channelKinds } from './kinds/kinds.ts'
import type { TargetCheck } from './targets.ts'

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
      // The error itself is not logged, since it may hold an address.
      log.warn({ channel: channel.id, reason: codeOf(error) }, 'a notification could not be made')
      return failed(codeOf(error), Math.round(performance.now() - startedMs))
    }
  }
}

const userAgent = 'Barograph'
const gone = 410

export function createPost(targets: TargetCheck): Post {
  return async ({ url: text, headers, body, secrets }, signal) => {
    const startedMs = performance.now()
    const result = (rest: Omit<AttemptResult, 'durationMs'>) => ({ ...rest, durationMs: passedMs(startedMs) })
    const fault = targets.faultOf(text)
    if (fault !== undefined) return result({ outcome: 'failed', status: null, error: fault, answer: '' })
    const url = new URL(text)
    const client = new Client(url.origin, { connect: targets.connectorTo(url, signal), pipelining: 0 })
    try {
      const answer = await client.request({
        method: 'POST',
        path: `${url.pathname}${url.search}`,
        headers: { 'content-type': 'application/json', 'user-agent': userAgent, ...headers },
        body,
        signal,
      })
      const { statusCode: status } = answer
      const isDelivered = status >= 200 && status < 300
      const outcome = isDelivered ? 'delivered' : status === gone ? 'gone' : 'failed'
      const error = isDelivered ? null : `status ${status}`
      return result({ outcome, status, error, answer: shownAnswer(await beginningOf(answer.body), secrets) })
    } catch (error) {
      return result({ outcome: 'failed', status: null, error: whyOf(error, signal), answer: '' })
    } finally {
      // The rest of the answer is not read.
      client.destroy().catch(() => undefined)
    }
  }
}

/** Reads the beginning of the body. The status decides, whether or not the body ends. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length >= answerLengthRead) break
    }
  } catch {
    // It was cut off.
  }
  return text
}

function whyOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'no answer in time'
  const code = codeOf(error)
  return code === 'TARGET_REFUSED' && error instanceof Error ? error.message : code
}

function passedMs(startedMs: number): number {
  return Math.round(performance.now() - startedMs)
}
