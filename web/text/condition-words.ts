/** Rules of alerts as sentences, in the units that a person has chosen. */

import type { Condition } from '../../alerts/core/condition.ts'
import { conditionText as conditionIn, durationText } from '../../alerts/core/condition-text.ts'
import { percent } from './phrases.ts'
import { measure, measureDifference, nameWithin, type Quantities } from './quantities.ts'

export type ConditionKind = Condition['kind']

/** In the order of the form. */
export const conditionNames: Record<ConditionKind, string> = {
  silent: 'A device is silent',
  above: 'A value is above a limit',
  below: 'A value is below a limit',
  change: 'A value changes quickly',
  battery: 'A battery runs low',
  completeness: 'Readings are missing',
  suspect: 'Readings are suspect',
  unusual: 'A value is unusual',
  site_silent: 'Many devices are silent at once',
  service: 'The service itself has a problem',
}

/** `Temperature above 30 °C for 10 minutes` */
export function ruleText(rule: { condition: Condition; for_seconds: number }, quantities: Quantities): string {
  const lasting = rule.for_seconds === 0 ? '' : ` for ${durationText(rule.for_seconds)}`
  return `${conditionText(rule.condition, quantities)}${lasting}`
}

export function conditionText(condition: Condition, quantities: Quantities): string {
  return conditionIn(condition, {
    name: metric => quantities.of(metric).name,
    nameWithin: metric => nameWithin(quantities.of(metric)),
    value: (value, metric) => measure(value, quantities.of(metric)),
    difference: (value, metric) => measureDifference(value, quantities.of(metric)),
    share: percent,
  })
}
