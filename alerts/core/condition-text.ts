/** The condition of a rule in words: on pages in the chosen units, and in notifications. */

import { countOf } from '../../analytics/findings/value-words.ts'
import type { Condition, ServiceFact } from './condition.ts'

/** How a metric is called, and how its values are written. */
export interface MetricWords {
  /** The name at the beginning of a sentence, and within one. */
  name(metric: string): string
  nameWithin(metric: string): string
  value(value: number, metric: string): string
  /** A difference between two values. */
  difference(value: number, metric: string): string
  share(share: number): string
}

export const factNames: Record<ServiceFact, string> = {
  questdb_away: 'QuestDB does not answer',
  forwarding_late: 'Readings reach QuestDB late',
  dead_letters: 'QuestDB has refused readings',
  disk_full: 'The disk is nearly full',
  journal_full: 'The journal is nearly full',
  clock_stepped: 'The clock was set',
}

/** `Temperature above 30 °C` */
export function conditionText(condition: Condition, words: MetricWords): string {
  switch (condition.kind) {
    case 'silent':
      return `No reading for ${condition.after_seconds === undefined ? 'longer than usual' : durationText(condition.after_seconds)}`
    case 'above':
    case 'below':
      return `${words.name(condition.metric)} ${condition.kind} ${words.value(condition.value, condition.metric)}`
    case 'change':
      return changeText(condition, words)
    case 'battery':
      return batteryText(condition, words)
    case 'completeness':
      return `Less than ${words.share(condition.share)} of the readings of an hour`
    case 'suspect':
      return `More than ${words.share(condition.share)} of the ${
        condition.metric === undefined ? '' : `${words.nameWithin(condition.metric)} `
      }readings of an hour are suspect`
    case 'unusual':
      return `${words.name(condition.metric)} unlike the four weeks before`
    case 'site_silent':
      return siteText(condition, words)
    case 'service':
      return serviceText(condition, words)
  }
}

type Of<Kind extends Condition['kind']> = Extract<Condition, { kind: Kind }>

function changeText({ metric, value, absolute, window_seconds }: Of<'change'>, words: MetricWords): string {
  const verb = absolute ? 'changes' : value < 0 ? 'falls' : 'rises'
  const amount = words.difference(Math.abs(value), metric)
  return `${words.name(metric)} ${verb} by more than ${amount} within ${durationText(window_seconds)}`
}

function batteryText({ metric, value, days }: Of<'battery'>, words: MetricWords): string {
  if (days !== undefined) return `The battery lasts less than ${countOf(days, 'day')}`
  if (metric === undefined || value === undefined) return 'The battery is low'
  return `${words.name(metric)} below ${words.value(value, metric)}`
}

function siteText({ share, count, after_seconds: after }: Of<'site_silent'>, words: MetricWords): string {
  const least = count > 1 ? `, and at least ${countOf(count, 'device')},` : ''
  const lasting = after === undefined ? '' : ` for ${durationText(after)}`
  return `More than ${words.share(share)} of the devices${least} are silent${lasting}`
}

function serviceText({ fact, days, share }: Of<'service'>, words: MetricWords): string {
  if (fact === 'disk_full' && days !== undefined) return `The disk is full within ${countOf(days, 'day')}`
  if (fact === 'journal_full' && share !== undefined) return `More than ${words.share(share)} of the journal is used`
  return factNames[fact]
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** A whole number of the largest possible unit. */
export function durationText(seconds: number): string {
  const [name, length] = units.find(([, length]) => seconds % length === 0 && seconds >= length) ?? ['second', 1]
  return countOf(seconds / length, name)
}
