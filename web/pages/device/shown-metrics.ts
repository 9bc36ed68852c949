/** A device's metrics in display order, and the metrics of its requests. */

import type { MetricKind } from '../../../query/shapes/kinds.ts'
import { chooseMetrics, shownMax } from '../../text/chosen-metrics.ts'
import { builtInNames, type Descriptions, isBuiltIn, type Quantities } from '../../text/quantities.ts'
import { type Detail, gaugeHoursOf, type LastValues, type Latest } from './answers.ts'
import type { Measured } from './measured.ts'

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
