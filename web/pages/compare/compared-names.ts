/** Which metrics a comparison may show, and which of many it is asked for. */

import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import { chooseMetrics, shownMax } from '../../text/chosen-metrics.ts'
import { airMetrics, isBuiltIn } from '../../text/quantities.ts'
import { type Comparison, customOf } from './answers.ts'
import type { ComparedHours } from './comparison-panels.ts'

type Values = LatestOfDevice['values']

/** Those of the air that either has, then the others of both in the order of the first; of the comparison, all that it has. */
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
 * For `metrics=` of a comparison, which has those of the air anyway; undefined where there are no more than are shown, so
 * that the answer is the one that everybody asks for.
 */
export function askedNames(a: Values, b: Values, chosen: string | null): string | undefined {
  const names = comparedNames(a, b, undefined)
  if (names.length <= shownMax) return undefined
  const wanted = chooseMetrics(names, chosen).filter(name => !isBuiltIn(name))
  return wanted.length > 0 ? wanted.join(',') : airMetrics[0]
}

export const hasHours = ({ a, b }: Pick<ComparedHours, 'a' | 'b'>) => a.length + b.length > 0
