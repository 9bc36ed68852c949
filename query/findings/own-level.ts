/** Whether the level of a metric is its own. */

import { batteryMetricOf } from '../../analytics/battery/battery-metric.ts'
import type { Profile } from '../../analytics/domain/profile.ts'

/** The weather has no level of its own. */
const ofWeather: readonly string[] = ['temperature', 'humidity', 'pressure']

/** A battery that drains has another level every week; what it has left is told of it. */
export function hasOwnLevel(metric: string, unit: string | null, profile: Profile): boolean {
  if (batteryMetricOf(metric, unit) !== undefined) return false
  return profile !== 'weather' || !ofWeather.includes(metric)
}
