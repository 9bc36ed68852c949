/** The values of a custom metric, and their indexes among other times. */

import type { Samples } from '../../analytics/present.ts'
import type { SeriesHourColumn } from '../../store/tables.ts'
import type { CustomMetric } from '../custom-metric.ts'

/** A total grows from the sample before a range on, and the one before that may show it to be noise. */
export const counterSamplesAround = 2

/**
 * The existing values of a metric, ascending; for a direction with a speed, also the times of speeds without a
 * direction.
 */
export interface CustomSamples extends Samples {
  readonly metric: CustomMetric
  /** One for each time, NaN where missing; undefined without a paired speed. */
  readonly speeds: Float64Array | undefined
  /** Hours of expired values. The samples in them are synthetic. */
  readonly expired?: ExpiredHours | undefined
}

export interface ExpiredHours {
  /** Hours that begin before this are expired. */
  readonly beforeMs: number
  /** The kept figures of each hour, by its start. */
  readonly at: ReadonlyMap<number, Pick<Record<SeriesHourColumn, number>, 'count' | 'sine' | 'cosine'>>
  /** Starts of the hours of amounts whose largest value is unknown. */
  readonly withoutMax: ReadonlySet<number>
}

/** The values at these times, ascending, NaN where there is none. Values at other times are left out. */
export function alignedTo(timesMs: Float64Array, samples: Samples): Float64Array {
  const aligned = new Float64Array(timesMs.length).fill(Number.NaN)
  let place = 0
  for (let index = 0; index < samples.timesMs.length; index++) {
    const timeMs = samples.timesMs[index] as number
    while (place < timesMs.length && (timesMs[place] as number) < timeMs) place++
    if (timesMs[place] === timeMs) aligned[place] = samples.values[index] as number
  }
  return aligned
}
