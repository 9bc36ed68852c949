/** Kinds of channels that post JSON: signed webhooks, Alertmanager, ntfy, Slack and its kin, and Apprise. */

import { bug } from '../../../store/limits/bug.ts'
import type { Message } from '../../core/message.ts'
import { failed } from '../attempt.ts'
import { type MessageText, plainBody, ruleConditionText, textOf, zoneText } from '../message-text.ts'
import { signatureHeaders } from '../signing.ts'
import { type ChannelKind, colours, resolvedColour } from './kind.ts'

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

const refreshMs = 300_000
/** Two refreshes may be late. */
const endsAfterMs = 3 * refreshMs

export const alertmanager: ChannelKind<'alertmanager'> = {
  secrets: ['url', 'password'],
  hasUrl: true,
  wantsAll: true,
  refreshMs,
  async deliver({ message, settings, tools }, signal) {
    const { url, username, password } = settings
    const basic = `${username ?? ''}:${password ?? ''}`
    const encoded = Buffer.from(basic).toString('base64')
    const headers: Record<string, string> = username === undefined ? {} : { authorization: `Basic ${encoded}` }
    const condition = ruleConditionText(message)
    const body = JSON.stringify(message.alerts.map(alert => alertOf(alert, message, condition)))
    const target = `${url.endsWith('/') ? url.slice(0, -1) : url}/api/v2/alerts`
    return await tools.post({ url: target, headers, body, secrets: [url, password ?? '', encoded] }, signal)
  },
}

/** Alertmanager identifies an alert by its labels, so they stay the same from the first notification to the last. */
function alertOf(alert: Message['alerts'][number], { rule, group, timestamp }: Message, condition: string) {
  const { device, metric, value, location, resolved_at: resolvedAt } = alert
  const labels = {
    // First: a tag may have one of the other names.
    ...(group === null || group.value === '' ? {} : { [group.tag]: group.value }),
    alertname: rule.name,
    severity: rule.severity,
    rule_id: String(rule.id),
    ...(device === null ? {} : { device }),
    ...(metric === null ? {} : { metric }),
  }
  const annotations = {
    summary: device === null ? rule.name : `${rule.name}: ${device}`,
    condition,
    ...(rule.note === '' ? {} : { description: rule.note }),
    ...(location === '' ? {} : { location }),
    ...(value === null ? {} : { value: String(value) }),
  }
  // The time of the message counts: a late message must not restart an alert.
  const endsAt = resolvedAt ?? new Date(Date.parse(timestamp) + endsAfterMs).toISOString()
  return { labels, annotations, startsAt: alert.fired_at, endsAt, generatorURL: alert.url }
}

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
    const body = JSON.stringify({ topic: place.topic, ...ntfyBodyOf(message, tools.timeZone) })
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

function ntfyBodyOf(message: Message, timeZone: string) {
  const isResolved = message.type === 'alert.resolved'
  return {
    title: textOf(message, timeZone).title,
    message: cut(plainBody(message, timeZone)),
    priority: isResolved ? resolvedPriority : priorities[message.rule.severity],
    tags: [isResolved ? 'white_check_mark' : 'rotating_light'],
    click: message.url,
  }
}

/** Cuts between characters, as UTF-8 counts them. */
function cut(text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(textBytesMax))
  return read < text.length ? `${text.slice(0, read)}…` : text
}

const textLengthMax = 3000

export const slack: ChannelKind<'slack'> = {
  secrets: ['url'],
  hasUrl: true,
  async deliver({ message, settings, tools }, signal) {
    const body = JSON.stringify(slackBodyOf(message, textOf(message, tools.timeZone), tools.timeZone))
    return await tools.post({ url: settings.url, headers: {}, body, secrets: [settings.url] }, signal)
  },
}

function slackBodyOf(message: Message, { title, condition, lines, more, note }: MessageText, timeZone: string) {
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
