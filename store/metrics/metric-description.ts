/** What answers say of a metric: how it is called and shown, its unit as people read it. */

import type { Metric } from './metric.ts'
import { signOf } from './units.ts'

export function descriptionOf({ title, kind, unit, decimals }: Pick<Metric, 'title' | 'kind' | 'unit' | 'decimals'>) {
  return { title, kind, unit: unit === null ? null : signOf(unit), decimals }
}
