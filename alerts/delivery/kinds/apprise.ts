/** A message to an API server of Apprise, which sends it on to some hundred services: github.com/caronc/apprise-api. */

import { plainBody, textOf } from '../message-text.ts'
import type { ChannelKind } from './kind.ts'

const types = { info: 'info', warning: 'warning', critical: 'failure' } as const

export const apprise: ChannelKind<'apprise'> = {
  secrets: ['url', 'urls'],
  hasUrl: true,
  async deliver({ message, settings, tools }, signal) {
    const { url, urls, tag } = settings
    const { title } = textOf(message, tools.timeZone)
    const type = message.type === 'alert.resolved' ? 'success' : types[message.rule.severity]
    const text = `${plainBody(message, tools.timeZone)}\n${message.url}`
    const body = JSON.stringify({ title, body: text, type, format: 'text', urls, tag })
    const result = await tools.post({ url, headers: {}, body, secrets: [url, urls ?? ''] }, signal)
    return result.status === 204
      ? { ...result, outcome: 'failed', error: 'the server has no service to notify' }
      : result
  },
}
