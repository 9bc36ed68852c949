/** Types of answers of `compare_data`. */

import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import type { Comparison as Answer, ComparedCustom as Custom } from '../../../query/shapes/compare.ts'
import type { Timed } from '../../client/timed.ts'
import { airMetrics, chooseMetrics, type Descriptions, isBuiltIn, shownMax } from '../../text/quantities.ts'

export type Comparison = Timed<Answer>
export type ComparePreset = NonNullable<Answer['preset']>
/** Hourly figures: means of gauges, increases of counters, sums of rates. */
export type ComparedMetric = Comparison['temperature']
export type Agreement = ComparedMetric['stats']
type ComparedCustom = Timed<Custom>
export type ComparedDirection = Extract<ComparedCustom, { kind: 'direction' }>
/** One value for each hour. */
export type ComparedHours = Pick<ComparedMetric | ComparedDirection, 'a' | 'b' | 'diff' | 'stats'>
export type ComparedState = Extract<ComparedCustom, { kind: 'state' }>

/** The metrics beside those that every comparison has, in the order of the answer. */
export function customOf(comparison: Comparison): { readonly name: string; readonly metric: ComparedCustom }[] {
  const descriptions: Descriptions = comparison.metrics ?? {}
  // The answer has custom metrics under their own names, which its type cannot express.
  const members = comparison as unknown as Readonly<Record<string, ComparedCustom>>
  return Object.keys(descriptions).flatMap(name => {
    const metric = members[name]
    return metric === undefined ? [] : [{ name, metric }]
  })
}

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
