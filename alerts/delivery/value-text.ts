/** Value of an alert in a few words. */

import { countOf, pointsText } from '../../analytics/findings/value-words.ts'
import type { Condition } from '../core/condition.ts'
import { durationText, type MetricWords } from '../core/condition-text.ts'

interface SeenValue {
  /** In the condition's unit: the unit of its metric, a share, seconds, days or a count. */
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
export function wordsIn(unit: string | null): MetricWords {
  const measure = (value: number) => measureText(value, unit)
  const name = (metric: string) => metric.slice(0, 1).toUpperCase() + nameOf(metric).slice(1)
  const difference = (value: number) => differenceText(value, unit)
  return { name, nameWithin: nameOf, value: measure, difference, share: percentText }
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
  return countOf(Math.floor(count), name)
}

/** In whole units of the largest that it reaches; of seconds only below a minute. */
function roundedDuration(seconds: number): string {
  const unit = [86_400, 3600, 60].find(length => seconds >= length) ?? 1
  return durationText(Math.floor(seconds / unit) * unit)
}
