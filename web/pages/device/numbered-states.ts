/** States with values other than 0 and 1, as far as answers show. */

import type { Stats } from '../../../query/shapes/stats.ts'
import type { Descriptions } from '../../text/quantities.ts'
import { isNumberOfState } from '../../text/state-words.ts'
import { type Detail, hoursOf, type LastValues, windowFiguresOf } from './answers.ts'

interface Answers {
  readonly values: LastValues
  /** The hours cover 30 days. */
  readonly detail: Detail | undefined
  readonly stats: Stats | undefined
}

/** Names of such states. A shown range may have more of them. */
export function numberedStates(answers: Answers, described: Descriptions): string[] {
  const states = Object.keys(described).filter(name => described[name]?.kind === 'state')
  return states.filter(name => statesOf(answers, name).some(isNumberOfState))
}

function statesOf({ values, detail, stats }: Answers, metric: string): number[] {
  const figures = stats && windowFiguresOf(stats, metric)
  const hours = detail === undefined ? [] : hoursOf<'state'>(detail, metric)
  const known = [...hours, ...(figures?.kind === 'state' ? [figures] : [])]
  const last = values[metric]
  return [...(last === undefined ? [] : [last.v]), ...known.flatMap(({ states }) => states.map(({ state }) => state))]
}
