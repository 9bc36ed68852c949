/** A notification in words: a title, a line with the value of each alert, and a footer. */

import { durationText, pointsText } from '../../analytics/findings/value-words.ts'
import { english } from '../../analytics/findings/words.ts'
import type { Condition } from '../core/condition.ts'
import { conditionText, type MetricWords } from '../core/condition-text.ts'
import type { Message } from '../core/message.ts'

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

interface SeenValue {
  /** The unit is the condition's: the unit of its metric, a share, seconds, days or a count. */
  value: number | null
  metric: string | null
  unit: string | null
}

/** Undefined where nothing was seen. */
export function valueText({ value, metric, unit }: SeenValue, condition: Condition): string | undefined {
  if (value === null) return undefined
  switch (condition.kind) {
    case 'silent':
      return `no reading for ${roundedDuration(value)}`
    case 'completeness':
    case 'suspect':
    case 'site_silent':
      return percentText(value)
    case 'unusual':
      return `${differenceText(Math.abs(value), unit)} ${value < 0 ? 'lower' : 'higher'} than usual`
    case 'service':
      return factText(condition.fact, value)
    case 'battery':
      return condition.days === undefined ? metricText(value, metric, unit) : `${wholeText(value, 'day')} left`
    default:
      return metricText(value, metric, unit)
  }
}

function factText(fact: Extract<Condition, { kind: 'service' }>['fact'], value: number): string {
  switch (fact) {
    case 'questdb_away':
      return `for ${roundedDuration(value)}`
    case 'forwarding_late':
      return `by ${roundedDuration(value)}`
    case 'dead_letters':
      return wholeText(value, 'reading')
    case 'disk_full':
      return `${wholeText(value, 'day')} left`
    case 'journal_full':
      return percentText(value)
    case 'clock_stepped':
      return `${Math.floor(value) === 1 ? 'once' : wholeText(value, 'time')} in an hour`
  }
}

function metricText(value: number, metric: string | null, unit: string | null): string {
  return `${metric === null ? '' : `${nameOf(metric)} `}${measureText(value, unit)}`
}

/** Words for conditions on a metric with this unit. */
function wordsIn(unit: string | null): MetricWords {
  const measure = (value: number) => measureText(value, unit)
  const name = (metric: string) => metric.slice(0, 1).toUpperCase() + nameOf(metric).slice(1)
  const difference = (value: number) => differenceText(value, unit)
  return { name, nameWithin: nameOf, value: measure, difference, share: percentText, language: english }
}

function nameOf(metric: string): string {
  return metric.replaceAll('_', ' ')
}

function measureText(value: number, unit: string | null): string {
  return unit === null || unit === '' ? numberText(value) : `${numberText(value)} ${unit}`
}

function differenceText(value: number, unit: string | null): string {
  return unit === '%' ? pointsText(numberText(value)) : measureText(value, unit)
}

/** Readings are doubles: 0.1 + 0.2 is shown as 0.3. */
function numberText(value: number): string {
  return String(Number(value.toPrecision(6)))
}

function percentText(share: number): string {
  return `${numberText(share * 100)} %`
}

function wholeText(count: number, name: string): string {
  const whole = Math.floor(count)
  return `${english.countText(whole)} ${name}${whole === 1 ? '' : 's'}`
}

/** Rounds to whole units of the largest one that the duration reaches. */
function roundedDuration(seconds: number): string {
  const unit = [86_400, 3600, 60].find(length => seconds >= length) ?? 1
  return durationText(Math.floor(seconds / unit) * unit)
}
