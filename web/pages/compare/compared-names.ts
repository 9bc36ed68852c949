/** Selects the metrics of a comparison and of its request. */

import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import { chooseMetrics, shownMax } from '../../text/chosen-metrics.ts'
import { airMetrics, isBuiltIn } from '../../text/quantities.ts'
import { type Comparison, customOf } from './answers.ts'
import type { ComparedHours } from './comparison-panels.ts'

type Values = LatestOfDevice['values']

/** Air metrics of either device first, then the others in the first device's order. A comparison adds its metrics. */
export function comparedNames(a: Values, b: Values, comparison: Comparison | undefined): string[] {
  const has = (values: Values, name: string) => Object.hasOwn(values, name)
  const air = airMetrics.filter(
    name => has(a, name) || has(b, name) || (comparison !== undefined && hasHours(comparison[name])),
  )
  const ofBoth = Object.keys(a).filter(name => !isBuiltIn(name) && has(b, name))
  const answered = comparison === undefined ? [] : customOf(comparison).map(({ name }) => name)
  return [...new Set([...air, ...ofBoth, ...answered])]
}

/**
 * The `metrics=` argument of a comparison beside the air metrics. Undefined where all fit, so that requests share one
 * cached answer.
 */
export function askedNames(a: Values, b: Values, chosen: string | null): string | undefined {
  const names = comparedNames(a, b, undefined)
  if (names.length <= shownMax) return undefined
  const wanted = chooseMetrics(names, chosen).filter(name => !isBuiltIn(name))
  return wanted.length > 0 ? wanted.join(',') : airMetrics[0]
}

export const hasHours = ({ a, b }: Pick<ComparedHours, 'a' | 'b'>) => a.length + b.length > 0
