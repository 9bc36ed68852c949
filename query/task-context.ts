/** A thread's context for every query that reads readings. */

import type { LocalTime } from '../analytics/time/local-time.ts'
import type { CustomMetric } from './custom-metric.ts'
import type { MeasurementsSource } from './questdb/measurements-source.ts'
import type { ReadingsSource } from './questdb/readings-source.ts'

export interface TaskContext {
  readonly source: ReadingsSource
  readonly measurements: MeasurementsSource
  /**
   * Metrics in the units of their values; for a station, the metrics with points, and the number of points left out of
   * these ranges.
   */
  readonly inUnits: InUnits
  readonly local: LocalTime
  readonly rowsMax: number
  readonly signal: AbortSignal
}

export type InUnits = (custom: readonly CustomMetric[], ranges: readonly UsRange[]) => Promise<readonly CustomMetric[]>

export interface UsRange {
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
}
