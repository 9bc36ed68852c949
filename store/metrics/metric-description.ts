/** The description of a metric in answers: its name and title, how it is shown, and its unit as people read it. */

import type { Metric } from './metric.ts'
import { signOf } from './units.ts'

export function descriptionOf({ title, kind, unit, decimals }: Pick<Metric, 'title' | 'kind' | 'unit' | 'decimals'>) {
  return { title, kind, unit: unit === null ? null : signOf(unit), decimals }
}
