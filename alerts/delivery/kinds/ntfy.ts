/** A message to a topic of ntfy, published as JSON, so that no text of anybody becomes a header. */

import type { Message } from '../../core/message.ts'
import { failed } from '../attempt.ts'
import { plainBody, textOf } from '../message-text.ts'
import type { ChannelKind } from './kind.ts'

const priorities = { info: 3, warning: 4, critical: 5 } as const
const resolvedPriority = 3
/** Longer ones become attachments (4,096 bytes). */
const textBytesMax = 3500

export const ntfy: ChannelKind<'ntfy'> = {
  secrets: ['url', 'token'],
  hasUrl: true,
  async deliver({ message, settings, tools }, signal) {
    const { url, token } = settings
    const place = placeOf(url)
    if (place === undefined) return failed('the address has no topic', 0)
    const body = JSON.stringify({ topic: place.topic, ...bodyOf(message, tools.timeZone) })
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return await tools.post({ url: place.server, headers, body, secrets: [url, place.topic, token ?? ''] }, signal)
  },
}

/** The topic is the last step of the path. The server accepts JSON at the path before it. */
function placeOf(text: string): { server: string; topic: string } | undefined {
  const url = URL.parse(text)
  const steps = url?.pathname.split('/').filter(step => step !== '') ?? []
  const topic = steps.pop()
  return url === null || topic === undefined ? undefined : { server: `${url.origin}/${steps.join('/')}`, topic }
}

function bodyOf(message: Message, timeZone: string) {
  const isResolved = message.type === 'alert.resolved'
  return {
    title: textOf(message, timeZone).title,
    message: cut(plainBody(message, timeZone)),
    priority: isResolved ? resolvedPriority : priorities[message.rule.severity],
    tags: [isResolved ? 'white_check_mark' : 'rotating_light'],
    click: message.url,
  }
}

/** Between characters, as UTF-8 counts them. */
function cut(text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(textBytesMax))
  return read < text.length ? `${text.slice(0, read)}…` : text
}
