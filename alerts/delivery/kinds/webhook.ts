/** JSON by POST, signed (Standard Webhooks 1.0). */

import { bug } from '../../../store/limits/bug.ts'
import { signatureHeaders } from '../signing.ts'
import type { ChannelKind } from './kind.ts'

export const webhook: ChannelKind<'webhook'> = {
  secrets: ['url'],
  hasUrl: true,
  async deliver({ message, webhookId, settings, own, tools }, signal) {
    if (own.signing === undefined) throw bug('a webhook has a secret to sign with')
    const { type, timestamp, ...data } = message
    const body = JSON.stringify({ type, timestamp, data })
    const headers = signatureHeaders(own.signing, { webhookId, body, nowMs: tools.nowMs() })
    return await tools.post({ url: settings.url, headers, body, secrets: [settings.url] }, signal)
  },
}
