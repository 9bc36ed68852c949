/** Types of answers of `compare_data`. */

import type { Comparison as Answer, ComparedCustom as Custom } from '../../../query/shapes/compare.ts'
import type { Timed } from '../../client/timed.ts'
import type { Descriptions } from '../../text/quantities.ts'

export type Comparison = Timed<Answer>
export type ComparePreset = NonNullable<Answer['preset']>
/** Hourly figures: means of gauges, increases of counters, sums of rates. */
export type ComparedMetric = Comparison['temperature']
export type Agreement = ComparedMetric['stats']
export type ComparedCustom = Timed<Custom>
export type ComparedDirection = Extract<ComparedCustom, { kind: 'direction' }>
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
