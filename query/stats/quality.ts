/** Numbers of good, suspect and missing readings in the window, and the tests that found the suspect ones. */

import type { CheckedMetric } from '../../analytics/findings/from-quality.ts'
import { checkQuality, type Quality } from '../../analytics/quality/quality.ts'
import type { QualityLimits } from '../../analytics/quality/quality-limits.ts'
import { type Metric, metrics } from '../../store/tables.ts'
import { type AnalysedDevice, deviceLimits } from '../analysed-device.ts'
import { type CustomMetric, customLimits } from '../custom-metric.ts'
import { byMetric, type StatsWindow } from './window.ts'

const hourMs = 3_600_000

export interface WindowQuality {
  readonly counts: Readonly<Record<Metric, Quality['counts']>>
  /** In the order of the counts. */
  readonly checked: readonly CheckedMetric[]
}

/** Quality of the five metrics and the custom gauges. */
export function qualityOf(window: StatsWindow, device: AnalysedDevice, custom: readonly CustomMetric[]): WindowQuality {
  const limitsOfCustom = new Map(custom.map(metric => [metric.name, customLimits(metric)]))
  const limitsOf = (name: string): QualityLimits => {
    const metric = metrics.find(metric => metric === name)
    return metric === undefined ? (limitsOfCustom.get(name) as QualityLimits) : deviceLimits(device, metric)
  }
  const { timesMs, cadence } = window
  const checked: CheckedMetric[] = []
  const counts = byMetric(window, ({ name, read: values }) => {
    const limits = limitsOf(name)
    const { marks, counts, limits: known } = checkQuality(timesMs, values, limits, cadence.stretches)
    const flatMs = counts.flat_hours === null ? null : counts.flat_hours * hourMs
    checked.push({ name, timesMs, values, marks, range: known.range, flatMs })
    return counts
  })
  return { counts, checked }
}
