/** A device's metrics in display order, and the metrics of its requests. */

import type { MetricKind } from '../../../query/shapes/kinds.ts'
import type { Stats } from '../../../query/shapes/stats.ts'
import { isNumberOfState } from '../../text/kind-words.ts'
import {
  builtInNames,
  chooseMetrics,
  type Descriptions,
  isBuiltIn,
  type Quantities,
  shownMax,
} from '../../text/quantities.ts'
import {
  type Detail,
  gaugeHoursOf,
  hoursOf,
  type LastValues,
  type Latest,
  type Measured,
  windowFiguresOf,
} from './answers.ts'

export interface ShownMetric {
  readonly name: string
  readonly kind: MetricKind
}

/** The metrics of a device: those with a last value in the order of that answer, then those with values before. */
export function metricsOfDevice(values: LastValues, detail: Detail | undefined, custom: Descriptions): string[] {
  const before = builtInNames.filter(name => detail !== undefined && gaugeHoursOf(detail, name).length > 0)
  return [...new Set([...Object.keys(values), ...before, ...Object.keys(custom)])]
}

/** The shown metrics, and for a device the built-in ones, which it may have had long ago. */
export function metricsToRead(
  { kind }: Pick<Measured, 'kind'>,
  names: readonly string[],
  shown: readonly string[],
  quantities: Quantities,
): ShownMetric[] {
  const perhaps = kind === 'station' ? [] : builtInNames.filter(name => !names.includes(name))
  return [...shown, ...perhaps].map(name => ({ name, kind: quantities.of(name).kind }))
}

/**
 * The `metrics=` argument of an analysis beside the five. Undefined where all fit, so that requests share one cached
 * answer.
 */
export function askedMetrics(latest: Latest | undefined, chosen: string | null): string | undefined {
  const names = Object.keys(latest?.values ?? {})
  if (names.length <= shownMax) return undefined
  const wanted = chooseMetrics(names, chosen).filter(name => !isBuiltIn(name))
  return wanted.length > 0 ? wanted.join(',') : builtInNames[0]
}

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
