/** JSON of incoming webhooks: Slack, Mattermost, and Discord at its address that ends in /slack. */

import type { Message } from '../../core/message.ts'
import { type MessageText, textOf, zoneText } from '../message-text.ts'
import { type ChannelKind, colours, resolvedColour } from './kind.ts'

const textLengthMax = 3000

export const slack: ChannelKind<'slack'> = {
  secrets: ['url'],
  hasUrl: true,
  async deliver({ message, settings, tools }, signal) {
    const body = JSON.stringify(bodyOf(message, textOf(message, tools.timeZone), tools.timeZone))
    return await tools.post({ url: settings.url, headers: {}, body, secrets: [settings.url] }, signal)
  },
}

function bodyOf(message: Message, { title, condition, lines, more, note }: MessageText, timeZone: string) {
  const rows = lines.map(({ text, url }) => `• <${url}|${escaped(text)}>`)
  const text = [escaped(condition), ...rows, more, note === '' ? undefined : escaped(note), zoneText(timeZone)]
  return {
    text: escaped(title),
    attachments: [
      {
        color: message.type === 'alert.resolved' ? resolvedColour : colours[message.rule.severity],
        title: 'All alerts of this rule',
        title_link: message.url,
        text: lineByLine(text),
        fallback: escaped(title),
        mrkdwn_in: ['text'],
      },
    ],
  }
}

/** Cut between lines: within one, a link could lose its end. */
function lineByLine(lines: readonly (string | undefined)[]): string {
  let text = ''
  for (const line of lines) {
    if (line === undefined) continue
    if (text.length + line.length >= textLengthMax) break
    text += `${line}\n`
  }
  return text
}

/** Escapes by Slack's rules, and keeps a device's name from mentioning people, as @here does in Mattermost. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('@', '@\u200b')
}
