/** What a thread uses for every query that it fetches readings for. */

import type { LocalTime } from '../analytics/time/local-time.ts'
import type { MeasurementsSource } from './questdb/measurements-source.ts'
import type { ReadingsSource } from './questdb/readings-source.ts'

export interface TaskContext {
  readonly source: ReadingsSource
  readonly measurements: MeasurementsSource
  readonly local: LocalTime
  readonly rowsMax: number
  readonly signal: AbortSignal
}
