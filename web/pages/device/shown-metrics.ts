/** Which metrics a device has, in which order they are shown, and which of many its analyses are asked for. */

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

/** Those that are shown, and what each device, but no station, may have had long ago, as no answer tells. */
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
 * For `metrics=` of an analysis, which has the five anyway; undefined where there are no more than are shown, so that the
 * answer is the one that everybody asks for.
 */
export function askedMetrics(latest: Latest | undefined, chosen: string | null): string | undefined {
  const names = Object.keys(latest?.values ?? {})
  if (names.length <= shownMax) return undefined
  const wanted = chooseMetrics(names, chosen).filter(name => !isBuiltIn(name))
  return wanted.length > 0 ? wanted.join(',') : builtInNames[0]
}
