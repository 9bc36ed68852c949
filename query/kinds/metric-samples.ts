/** The values of a custom metric, and their places among other times. */

import type { Samples } from '../../analytics/present.ts'
import type { SeriesHourColumn } from '../../store/tables.ts'
import type { CustomMetric } from '../custom-metric.ts'

/** A total grows from the sample before a range on, which the one before that may show to be noise. */
export const counterSamplesAround = 2

/** The values of a metric that are there, ascending; of a direction with a speed also the times of speeds without a direction. */
export interface CustomSamples extends Samples {
  readonly metric: CustomMetric
  /** As many as times, NaN where missing; undefined without a paired speed. */
  readonly speeds: Float64Array | undefined
  /** The hours of which values have expired; samples in them stand for those. */
  readonly expired?: ExpiredHours | undefined
}

export interface ExpiredHours {
  /** Those that begin before this. */
  readonly beforeMs: number
  /** What is kept of an hour, by its start. */
  readonly at: ReadonlyMap<number, Pick<Record<SeriesHourColumn, number>, 'count' | 'sine' | 'cosine'>>
  /** Of amounts, starts of the hours of which the largest is not known. */
  readonly withoutMax: ReadonlySet<number>
}

/** The values at these times, ascending, NaN where there is none; values at other times are left out. */
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
