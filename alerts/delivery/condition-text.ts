/** What a rule looks at, in a few words. */

import type { Condition } from '../core/condition.ts'

const facts: Record<Extract<Condition, { kind: 'service' }>['fact'], string> = {
  questdb_away: 'QuestDB does not answer',
  dead_letters: 'QuestDB has refused readings (dead letters)',
  disk_full: 'the disk fills up',
  journal_full: 'the journal fills up',
  clock_stepped: 'the clock has stepped',
}

export function conditionText(condition: Condition): string {
  switch (condition.kind) {
    case 'silent':
      return `no reading${forText(condition.after_seconds)}`
    case 'above':
    case 'below':
      return `${nameOf(condition.metric)} ${condition.kind} ${condition.value}`
    case 'change':
      return `${nameOf(condition.metric)} has changed by ${condition.absolute ? '±' : ''}${condition.value} within ${durationText(condition.window_seconds)}`
    case 'battery':
      return condition.days === undefined
        ? `${nameOf(condition.metric ?? 'battery')} below ${condition.value}`
        : `the battery is empty within ${condition.days} days`
    case 'completeness':
      return `an hour with less than ${percent(condition.share)} of its readings`
    case 'suspect':
      return `an hour with more than ${percent(condition.share)} of its readings suspect, or always the same`
    case 'site_silent':
      return `more than ${percent(condition.share)} of the devices silent${forText(condition.after_seconds)}`
    case 'service':
      return facts[condition.fact]
  }
}

function forText(seconds: number | undefined): string {
  return seconds === undefined ? '' : ` for ${durationText(seconds)}`
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** In the largest unit of which it is a whole number. */
export function durationText(seconds: number): string {
  const [name, length] = units.find(([, length]) => seconds % length === 0 && seconds >= length) ?? ['second', 1]
  const count = seconds / length
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

function nameOf(metric: string): string {
  return metric.replaceAll('_', ' ')
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(4))} %`
}
