/** Selects the metrics of an analysis beyond its fixed ones, and finds their values for a device. */

import { customMetricsOf, type MetricDevice } from '../../auth/metrics/device-metrics.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import type { ComparedCustom } from '../../query/analyses/compare.ts'
import type { CustomMetric, PairedSpeed, ValuesPlace } from '../../query/custom-metric.ts'
import { calmSpeed, speedOfDirection } from '../../store/metrics/compass.ts'
import { descriptionOf, type Metric } from '../../store/metrics/metric.ts'
import { metrics as columns } from '../../store/tables.ts'

export type AnalysedMetrics = Pick<Metrics, 'get' | 'series' | 'metricsOf'>

/** First name that the devices neither have nor list, besides the five built-in ones. Undefined if all are known. */
export function absentMetric(
  metrics: AnalysedMetrics,
  devices: readonly MetricDevice[],
  names: readonly string[] = [],
): string | undefined {
  const there = new Set<string>(columns)
  for (const device of devices) for (const { name } of customMetricsOf(metrics, device)) there.add(name)
  return names.find(name => !there.has(name))
}

/** Ordered as named; by default, the device's metrics as shown. The answer always has those in `always`. */
export function customMetrics(
  metrics: AnalysedMetrics,
  device: MetricDevice,
  always: readonly string[],
  names: readonly string[] | undefined,
): CustomMetric[] {
  const wanted = names?.flatMap(name => metrics.get(name) ?? []) ?? customMetricsOf(metrics, device)
  return wanted.filter(({ name }) => !always.includes(name)).map(metric => customMetric(metrics, device.number, metric))
}

/** Requests without names compare the metrics that both devices have sent. */
export function comparedMetrics(
  metrics: AnalysedMetrics,
  [a, b]: readonly [MetricDevice, MetricDevice],
  always: readonly string[],
  names: readonly string[] | undefined,
): ComparedCustom[] {
  const isOfBoth = (metric: Metric) => [a, b].every(({ number }) => metrics.series(number, metric) !== undefined)
  const ofBoth = customMetricsOf(metrics, a).filter(isOfBoth)
  const common = names ?? ofBoth.map(({ name }) => name)
  const customOfB = customMetrics(metrics, b, always, common)
  return customMetrics(metrics, a, always, common).map((one, place) => ({
    a: one,
    b: customOfB[place] as CustomMetric,
  }))
}

function customMetric(metrics: AnalysedMetrics, device: number, metric: Metric): CustomMetric {
  const { name, kind, quality } = metric
  return {
    name,
    ...descriptionOf(metric),
    quality,
    ...placeOf(metrics, device, metric),
    speed: kind === 'direction' ? speedOf(metrics, device, name) : undefined,
  }
}

function placeOf(metrics: AnalysedMetrics, device: number, metric: Metric): ValuesPlace {
  const column = metric.built_in ? columns.find(name => name === metric.name) : undefined
  return { series: metrics.series(device, metric), column }
}

function speedOf(metrics: AnalysedMetrics, device: number, direction: string): PairedSpeed | undefined {
  const speed = metrics.get(speedOfDirection(direction) ?? '')
  if (speed === undefined) return undefined
  const place = placeOf(metrics, device, speed)
  return place.series === undefined ? undefined : { name: speed.name, calmBelow: calmSpeed(speed), ...place }
}
