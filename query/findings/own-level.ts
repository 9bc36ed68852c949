import { batteryMetricOf } from '../../analytics/battery/battery-metric.ts'
import type { Profile } from '../../analytics/domain/profile.ts'

/** Weather metrics have no level of their own. */
const ofWeather: readonly string[] = ['temperature', 'humidity', 'pressure']

/** A draining battery has another level every week, which its own finding reports. */
export function hasOwnLevel(metric: string, unit: string | null, profile: Profile): boolean {
  if (batteryMetricOf(metric, unit) !== undefined) return false
  return profile !== 'weather' || !ofWeather.includes(metric)
}
