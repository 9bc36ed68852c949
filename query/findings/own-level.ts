/** Whether the level of a metric is its own. */

import type { Profile } from '../../analytics/domain/profile.ts'

/** The weather has no level of its own. */
const ofWeather: readonly string[] = ['temperature', 'humidity', 'pressure']

export function hasOwnLevel(metric: string, profile: Profile): boolean {
  return profile !== 'weather' || !ofWeather.includes(metric)
}
