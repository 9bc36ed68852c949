/** Rules of alerts as sentences. */

import type { Condition } from '../../alerts/core/condition.ts'
import { countOf } from './numbers.ts'
import { inOneUnit, percent } from './phrases.ts'
import { measure, measureDifference, nameWithin, type Quantities } from './quantities.ts'

export type ConditionKind = Condition['kind']
type ServiceCondition = Extract<Condition, { kind: 'service' }>

/** In the order in which a form offers them. */
export const conditionNames: Record<ConditionKind, string> = {
  silent: 'A device is silent',
  above: 'A value is above a limit',
  below: 'A value is below a limit',
  change: 'A value changes quickly',
  battery: 'A battery runs low',
  completeness: 'Readings are missing',
  suspect: 'Readings are suspect',
  site_silent: 'Many devices are silent at once',
  service: 'The service itself has a problem',
}

export const factNames: Record<ServiceCondition['fact'], string> = {
  questdb_away: 'QuestDB does not answer',
  dead_letters: 'QuestDB has refused readings',
  disk_full: 'The disk is nearly full',
  journal_full: 'The journal is nearly full',
  clock_stepped: 'The clock was set',
}

/** `Temperature above 30 °C for 10 minutes` */
export function ruleText(rule: { condition: Condition; for_seconds: number }, quantities: Quantities): string {
  const lasting = rule.for_seconds === 0 ? '' : ` for ${inOneUnit(rule.for_seconds, true)}`
  return `${conditionText(rule.condition, quantities)}${lasting}`
}

export function conditionText(condition: Condition, quantities: Quantities): string {
  switch (condition.kind) {
    case 'silent':
      return condition.after_seconds === undefined
        ? 'No reading for longer than usual'
        : `No reading for ${inOneUnit(condition.after_seconds, true)}`
    case 'above':
    case 'below': {
      const quantity = quantities.of(condition.metric)
      return `${quantity.name} ${condition.kind} ${measure(condition.value, quantity)}`
    }
    case 'change':
      return changeText(condition, quantities)
    case 'battery':
      return batteryText(condition, quantities)
    case 'completeness':
      return `Less than ${percent(condition.share)} of the readings of an hour`
    case 'suspect':
      return `More than ${percent(condition.share)} of the ${ofMetric(condition.metric, quantities)}readings of an hour are suspect`
    case 'site_silent': {
      const least = condition.count > 1 ? `, and at least ${countOf(condition.count, 'device')},` : ''
      return `More than ${percent(condition.share)} of the devices${least} are silent`
    }
    case 'service':
      return serviceText(condition)
  }
}

function changeText(
  { metric, value, absolute, window_seconds }: Extract<Condition, { kind: 'change' }>,
  quantities: Quantities,
): string {
  const quantity = quantities.of(metric)
  const verb = absolute ? 'changes' : value < 0 ? 'falls' : 'rises'
  const amount = measureDifference(Math.abs(value), quantity)
  return `${quantity.name} ${verb} by more than ${amount} within ${inOneUnit(window_seconds, true)}`
}

function batteryText(condition: Extract<Condition, { kind: 'battery' }>, quantities: Quantities): string {
  if ('days' in condition && condition.days !== undefined) {
    return `The battery lasts less than ${countOf(condition.days, 'day')}`
  }
  const { metric, value } = condition as { metric: string; value: number }
  const quantity = quantities.of(metric)
  return `${quantity.name} below ${measure(value, quantity)}`
}

function serviceText({ fact, days, share }: ServiceCondition): string {
  if (fact === 'disk_full' && days !== undefined) return `The disk is full within ${countOf(days, 'day')}`
  if (fact === 'journal_full' && share !== undefined) return `More than ${percent(share)} of the journal is used`
  return factNames[fact]
}

function ofMetric(metric: string | undefined, quantities: Quantities): string {
  return metric === undefined ? '' : `${nameWithin(quantities.of(metric))} `
}
