/** Alerts for Alertmanager (API v2), sent again while they fire: one that is not sent again ends there by itself. */

import type { Message } from '../../core/message.ts'
import { ruleConditionText } from '../message-text.ts'
import type { ChannelKind } from './kind.ts'

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

/** By its labels Alertmanager knows an alert again, so they are the same from the first notification to the last. */
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
