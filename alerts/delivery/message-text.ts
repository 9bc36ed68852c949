/** A notification in words: a title, a line for each alert, and a footer. */

import { conditionText } from '../core/condition-text.ts'
import type { Message } from '../core/message.ts'
import { valueText, wordsIn } from './value-text.ts'

export interface MessageText {
  title: string
  /** Condition of the rule in words. */
  condition: string
  lines: { text: string; url: string }[]
  /** Alerts that are counted and not named. */
  more: string | undefined
  /** Instructions by the rule's author. */
  note: string
}

type Alert = Message['alerts'][number]

const beginnings: Record<Message['type'], string> = {
  'alert.firing': 'Firing',
  'alert.resolved': 'Resolved',
  'alert.repeat': 'Still firing',
  'alert.flapping': 'Flapping',
  'alert.test': 'Test',
}

export function textOf(message: Message, timeZone: string): MessageText {
  const { rule, devices_left_out: leftOut } = message
  return {
    title: titleOf(message),
    condition: ruleConditionText(message),
    lines: message.alerts.map(alert => ({ text: lineOf(alert, message, timeZone), url: alert.url })),
    more: leftOut > 0 ? `and ${leftOut} more` : undefined,
    note: rule.note,
  }
}

/** Lines of plain text below the title. */
export function plainBody(message: Message, timeZone: string): string {
  const { condition, lines, more, note } = textOf(message, timeZone)
  const texts = [condition, ...lines.map(({ text }) => text), more, note, zoneText(timeZone)]
  return texts.filter(text => text !== undefined && text !== '').join('\n')
}

/** Condition of the rule in words, its limits in the unit of the alert's values. */
export function ruleConditionText({ rule, alerts }: Pick<Message, 'rule' | 'alerts'>): string {
  return conditionText(rule.condition, wordsIn(alerts.find(({ unit }) => unit !== null)?.unit ?? null))
}

function titleOf({ type, rule, group, alerts, devices_left_out: leftOut }: Message): string {
  const [first] = alerts
  const count = alerts.length + leftOut
  const where = group === null || group.value === '' ? '' : ` (${group.tag} ${group.value})`
  const what = count === 1 ? (first?.device ?? undefined) : count > 1 ? `${count} alerts` : undefined
  return `${beginnings[type]}: ${rule.name}${where}${what === undefined ? '' : `, ${what}`}`
}

function lineOf(alert: Alert, { rule }: Message, timeZone: string): string {
  const place = alert.location === '' || alert.location === alert.device ? '' : ` (${alert.location})`
  const name = alert.device === null ? rule.name : `${alert.device}${place}`
  const value = valueText(alert, rule.condition)
  const time = (text: string) => timeText(text, timeZone)
  const state =
    alert.resolved_at === null
      ? `${alert.state} since ${time(alert.fired_at)}`
      : `resolved ${time(alert.resolved_at)}, had fired since ${time(alert.fired_at)}`
  const seen = alert.acknowledged_by === null ? '' : `, acknowledged by ${alert.acknowledged_by}`
  return `${name}: ${value === undefined ? '' : `${value}, `}${state}${seen}`
}

/** `2026-11-26 18:20` of the zone, which is named once, below. */
function timeText(text: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short', timeZone })
  return format.format(new Date(text))
}

export function zoneText(timeZone: string): string {
  return `Times are of ${timeZone}.`
}
